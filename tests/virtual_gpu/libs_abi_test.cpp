// The stand-ins' binary interface against NVIDIA's headers (static assertions in libs_abi_*.cpp, compiled
// where the headers are) and against the real cuBLASLt, whose descriptors work without a GPU.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#ifdef ATTNSCOPE_HAVE_CUBLAS_HEADERS
bool cublas_headers_agree();
#endif
#ifdef ATTNSCOPE_HAVE_CUDNN_HEADERS
bool cudnn_headers_agree();
#endif

namespace {

TEST(Abi, CublasHeaders) {
#ifdef ATTNSCOPE_HAVE_CUBLAS_HEADERS
    EXPECT_TRUE(cublas_headers_agree());
#else
    GTEST_SKIP() << "no cublasLt.h on this machine";
#endif
}
TEST(Abi, CudnnHeaders) {
#ifdef ATTNSCOPE_HAVE_CUDNN_HEADERS
    EXPECT_TRUE(cudnn_headers_agree());
#else
    GTEST_SKIP() << "no cudnn.h on this machine";
#endif
}

struct Library {
    void* handle;
    template <class Function>
    Function get(const char* name) const {
        return reinterpret_cast<Function>(dlsym(handle, name));
    }
};
using Create = int (*)(void**, int, int);
using CreateLayout = int (*)(void**, int, uint64_t, uint64_t, int64_t);
using CreatePreference = int (*)(void**);
using Get = int (*)(void*, int, void*, size_t, size_t*);

/// Attribute -> bytes of the default value; an attribute that is not known is absent.
std::vector<std::string> defaults(const Library& library, const char* getter, void* descriptor) {
    std::vector<std::string> result;
    Get get = library.get<Get>(getter);
    for (int attribute = 0; attribute < 40; ++attribute) {
        size_t size = 0;
        if (get(descriptor, attribute, nullptr, 0, &size) != 0) {
            result.push_back("unknown");
            continue;
        }
        std::string value(size, '\0');
        EXPECT_EQ(get(descriptor, attribute, value.data(), size, nullptr), 0);
        result.push_back(value);
    }
    return result;
}

void compare(const char* what, const std::vector<std::string>& real, const std::vector<std::string>& own) {
    size_t known = 0;
    for (size_t attribute = 0; attribute < own.size(); ++attribute) {
        if (own[attribute] == "unknown") continue;
        ++known;
        EXPECT_EQ(real[attribute], own[attribute]) << what << " attribute " << attribute;
    }
    EXPECT_GE(known, 9u);
}

TEST(Abi, CublasLtDescriptorsAreTheRealOnes) {
    const char* folder = std::getenv("ATTNSCOPE_TEST_CUDA_LIB");
    std::string path =
        std::string(folder && *folder ? folder : "/usr/local/cuda/lib64") + "/libcublasLt.so.13";
    Library real{dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND)};
    if (!real.handle) GTEST_SKIP() << "no real " << path;
    std::string stand_in =
        std::string(std::getenv("ATTNSCOPE_BINARY_DIR")) + "/lib/attnscope/virtual_gpu/libcublasLt.so.13";
    Library own{dlopen(stand_in.c_str(), RTLD_NOW | RTLD_LOCAL)};
    ASSERT_TRUE(own.handle) << dlerror();
    ASSERT_NE(real.handle, own.handle);
    auto matmul = [](const Library& library) {
        void* d = nullptr;
        EXPECT_EQ(library.get<Create>("cublasLtMatmulDescCreate")(&d, 68, 0),
                  0);  // CUBLAS_COMPUTE_32F, CUDA_R_32F
        return defaults(library, "cublasLtMatmulDescGetAttribute", d);
    };
    compare("matmul", matmul(real), matmul(own));
    auto layout = [](const Library& library) {
        void* d = nullptr;
        EXPECT_EQ(library.get<CreateLayout>("cublasLtMatrixLayoutCreate")(&d, 14, 96, 32, 128), 0);
        return defaults(library, "cublasLtMatrixLayoutGetAttribute", d);
    };
    compare("layout", layout(real), layout(own));
    auto preference = [](const Library& library) {
        void* d = nullptr;
        EXPECT_EQ(library.get<CreatePreference>("cublasLtMatmulPreferenceCreate")(&d), 0);
        return defaults(library, "cublasLtMatmulPreferenceGetAttribute", d);
    };
    compare("preference", preference(real), preference(own));
}

}  // namespace
