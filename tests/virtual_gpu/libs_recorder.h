#pragma once
// Collects what the virtual GPU tells an observer, for the tests of the library stand-ins.
#include <map>
#include <string>
#include <vector>

#include "collectors/virtual_gpu/observer.h"

struct RecordedCall {
    std::string library, function, operation;
    std::map<std::string, std::string> attributes;  // numbers as text

    std::string operator[](const std::string& key) const {
        auto found = attributes.find(key);
        return found == attributes.end() ? "(absent)" : found->second;
    }
};

/// Only one may live at a time: the virtual GPU has one observer.
class Recorder {
  public:
    Recorder() {
        AttnscopeVgpuObserver observer = {};
        observer.size = sizeof observer;
        observer.user = this;
        observer.library_call = [](void* user, const AttnscopeLibraryCall* call) {
            RecordedCall recorded{call->library, call->function, call->operation, {}};
            for (uint32_t i = 0; i < call->attribute_count; ++i) {
                const AttnscopeAttribute& a = call->attributes[i];
                recorded.attributes[a.name] = a.text ? a.text : std::to_string(a.number);
            }
            static_cast<Recorder*>(user)->calls.push_back(recorded);
        };
        observer.uncomputed_read = [](void* user, const AttnscopeUncomputedRead* read) {
            static_cast<Recorder*>(user)->uncomputed.emplace_back(read->cause);
        };
        observer.diagnostic = [](void* user, const AttnscopeVgpuDiagnostic* diagnostic) {
            static_cast<Recorder*>(user)->diagnostics.push_back(std::string(diagnostic->code) + ": " +
                                                                diagnostic->message);
        };
        observer.assumed_figure = [](void*, int32_t, const char*) {};
        attnscopeVgpuSetObserver(&observer);
        calls.clear();  // what happened before this test is replayed to a new observer
        uncomputed.clear();
        diagnostics.clear();
    }
    ~Recorder() { attnscopeVgpuSetObserver(nullptr); }
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    bool has_diagnostic(const std::string& part) const {
        for (const std::string& text : diagnostics)
            if (text.find(part) != std::string::npos) return true;
        return false;
    }

    std::vector<RecordedCall> calls;
    std::vector<std::string> uncomputed, diagnostics;
};
