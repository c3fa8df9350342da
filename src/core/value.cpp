#include "attnscope/value.h"

namespace attnscope {

const char* to_string(Source source) {
    switch (source) {
        case Source::counter:
            return "counter";
        case Source::trace:
            return "trace";
        case Source::binary:
            return "binary";
        case Source::computed:
            return "computed";
        case Source::model:
            return "model";
        case Source::reported:
            return "reported";
    }
    return "?";
}

const char* to_string(Ground ground) {
    switch (ground) {
        case Ground::real:
            return "real";
        case Ground::imported:
            return "imported";
        case Ground::fixture:
            return "fixture";
        case Ground::virtual_gpu:
            return "virtual";
    }
    return "?";
}

const char* to_string(Unit unit) {
    switch (unit) {
        case Unit::none:
            return "";
        case Unit::count:
            return "";
        case Unit::bytes:
            return "bytes";
        case Unit::percent:
            return "%";
        case Unit::nanoseconds:
            return "ns";
        case Unit::registers:
            return "registers/thread";
        case Unit::threads:
            return "threads";
        case Unit::ctas:
            return "CTAs";
        case Unit::warps:
            return "warps";
        case Unit::bytes_per_second:
            return "bytes/s";
        case Unit::flop:
            return "FLOP";
        case Unit::flop_per_second:
            return "FLOP/s";
    }
    return "?";
}

}  // namespace attnscope
