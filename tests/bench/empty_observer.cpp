// What LibTorch itself takes for whoever asks it for operations and their inputs: an observer that does
// nothing.
#include <ATen/record_function.h>

extern "C" void observe() {
    const auto start = [](const at::RecordFunction&) -> std::unique_ptr<at::ObserverContext> {
        return nullptr;
    };
    const auto end = [](const at::RecordFunction&, at::ObserverContext*) {};
    at::addGlobalCallback(at::RecordFunctionCallback(start, end)
                              .needsInputs(true)
                              .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
}
