#include "misbehave.h"

extern "C" int cuptiGetVersion(unsigned* version) {
    misbehave("FAKE_CUPTI");
    *version = static_cast<unsigned>(number("FAKE_CUPTI_VERSION", 130000));
    return 0;
}
