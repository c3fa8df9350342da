#include "trace.h"

#include "attnscope/error.h"
#include "samples.h"

namespace attnscope::test {

std::string h100() {
    return R"({"id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85018279936, "computeMajor": 9,
"computeMinor": 0, "maxThreadsPerBlock": 1024, "maxThreadsPerMultiprocessor": 2048, "regsPerBlock": 65536,
"warpSize": 32, "sharedMemPerBlock": 49152, "numSms": 132, "regsPerMultiprocessor": 65536,
"sharedMemPerBlockOptin": 232448, "sharedMemPerMultiprocessor": 233472})";
}

std::string trace(const std::vector<std::string>& events, const std::string& devices,
                  const std::string& more) {
    std::string out = "{\"schemaVersion\": 1, \"deviceProperties\": [" + devices + "], \"traceEvents\": [";
    for (size_t i = 0; i < events.size(); ++i) out += (i ? ",\n  " : "\n  ") + events[i];
    return out + "\n]" + more + "}\n";
}

std::string event(const std::string& category, const std::string& name, const std::string& ts,
                  const std::string& dur, const std::string& args, const std::string& tid,
                  const std::string& pid) {
    return R"({"ph": "X", "cat": ")" + category + R"(", "name": ")" + name + R"(", "pid": )" + pid +
           R"(, "tid": )" + tid + R"(, "ts": )" + ts + R"(, "dur": )" + dur + R"(, "args": {)" + args + "}}";
}

std::string flash_kernel(uint64_t correlation, const std::string& ts, const std::string& more) {
    return event("kernel", "pytorch_flash::flash_fwd_kernel", ts, "10.25",
                 R"("device": 0, "stream": 7, "correlation": )" + std::to_string(correlation) +
                     R"(, "registers per thread": 168, "shared memory": 81920, "blocks per SM": 8.2,
"warps per SM": 33, "grid": [8, 8, 16], "block": [128, 1, 1], "est. achieved occupancy %": 0)" +
                     more);
}

Run import_bytes(const std::string& bytes, const std::string& name) {
    TemporaryFolder folder;
    write(folder.path() / name, bytes);
    return import_files({folder.path() / name});
}

std::string refusal(const std::string& bytes, const std::string& name) {
    try {
        import_bytes(bytes, name);
    } catch (const Error& e) {
        if (e.exit() != Exit::bad_input) return "wrong exit code";
        return e.what();
    }
    return {};
}

const Diagnostic* diagnostic(const Run& run, const std::string& code) {
    for (const Diagnostic& d : run.diagnostics)
        if (d.code == code) return &d;
    for (const Process& p : run.processes)
        for (const Diagnostic& d : p.diagnostics)
            if (d.code == code) return &d;
    return nullptr;
}

}  // namespace attnscope::test
