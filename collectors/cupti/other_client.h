#pragma once
// Whether somebody else in this process already holds CUPTI.
#include <optional>
#include <string>

namespace attnscope::collector {

/// Subscribes to the loaded libcupti and gives the subscription up at once. The holder's name, or "another
/// CUPTI client" where it left none or CUPTI is older than 13.0; nullopt when nobody holds it, and when CUPTI
/// answers anything else (then the next call says why). Makes no CUDA call.
std::optional<std::string> name_of_other_client(void* libcupti);

}  // namespace attnscope::collector
