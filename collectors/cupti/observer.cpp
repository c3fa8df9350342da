#include "observer.h"

#include <exception>
#include <string>
#include <string_view>

#include "json_line.h"
#include "session.h"

namespace attnscope::collector {
namespace {

std::string_view view(const char* text) {
    return text == nullptr ? std::string_view() : std::string_view(text);
}

/// Runs `body(session)` for the program's own calls; nothing is thrown into the virtual GPU.
template <class Body>
void record(Body body) noexcept {
    try {
        Session* session = Session::get();
        if (session != nullptr && session->recording()) body(*session);
    } catch (const std::exception&) {
        // Out of memory: this one event is lost, the program goes on.
    }
}

bool is_field(std::string_view name) {
    for (const std::string_view own : {"type", "correlation", "library", "function", "operation", "device",
                                       "stream", "thread", "range", "op", "op_call"})
        if (name == own) return true;
    return name.empty();
}

void on_library_call(void*, const AttnscopeLibraryCall* call) {
    record([call](Session& session) {
        ThreadState& thread = session.this_thread();
        std::string line;
        JsonLine json(line, "library_call");
        json.number("correlation", call->correlation)
            .known("library", view(call->library))
            .known("function", view(call->function));
        json.known("operation", view(call->operation))
            .number("device", call->device)
            .number("stream", call->stream);
        json.number("thread", thread.thread);
        if (const uint32_t range = session.current_range(thread)) {
            json.number("range", range);
            if (const uint32_t process_range = session.outer_process_range(thread))
                json.number("process_range", process_range);
        }
        add_operation(json, thread.operation());
        for (uint32_t i = 0; i < call->attribute_count; ++i) {
            const AttnscopeAttribute& attribute = call->attributes[i];
            if (attribute.name == nullptr || is_field(attribute.name)) continue;
            if (attribute.text != nullptr)
                json.text(attribute.name, attribute.text);
            else
                json.number(attribute.name, attribute.number);
        }
        json.end();
        session.count_library_call();
        session.file().append(line);
    });
}

void on_uncomputed_read(void*, const AttnscopeUncomputedRead* read) {
    record([read](Session& session) {
        ThreadState& thread = session.this_thread();
        std::string line;
        JsonLine json(line, "uncomputed_read");
        json.known("cause", view(read->cause))
            .number("bytes", read->bytes)
            .known("returned", view(read->returned));
        json.known("location", view(read->location)).number("thread", thread.thread);
        if (const uint32_t range = session.current_range(thread)) json.number("range", range);
        session.notices().add(std::move(line));
    });
}

void on_diagnostic(void*, const AttnscopeVgpuDiagnostic* diagnostic) {
    record([diagnostic](Session& session) {
        if (session.is_own_thread()) return;  // a version that we asked for
        session.notices().diagnostic(view(diagnostic->severity), view(diagnostic->code),
                                     view(diagnostic->message), view(diagnostic->remedy));
    });
}

void on_assumed_figure(void*, int32_t device, const char* key) {
    record([device, key](Session& session) {
        std::string line;
        JsonLine(line, "assumed").number("device", device).text("key", view(key)).end();
        session.file().append(line);
    });
}

}  // namespace

const AttnscopeVgpuObserver* virtual_gpu_observer() {
    static const AttnscopeVgpuObserver observer{sizeof(AttnscopeVgpuObserver),
                                                0,
                                                nullptr,
                                                on_library_call,
                                                on_uncomputed_read,
                                                on_diagnostic,
                                                on_assumed_figure};
    return &observer;
}

}  // namespace attnscope::collector
