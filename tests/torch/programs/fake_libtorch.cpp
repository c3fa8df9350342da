// Stands for a library of LibTorch of another version: nothing of it may be called but the one C function
// that tells the version, if it has that.
#include <cstdint>

#ifdef FAKE_VERSION
extern "C" __attribute__((visibility("default"))) uint64_t aoti_torch_abi_version() {
    return FAKE_VERSION;
}
#endif
extern "C" __attribute__((visibility("default"))) int FAKE_ANCHOR() {
    return 0;
}
