# LibTorch without its own CMake package: that one wants nvcc and a whole CUDA toolkit, which attnscope's users need not have.
# Sets LibTorch_FOUND, LibTorch_LIB_DIR and the target LibTorch::LibTorch.
find_path(LibTorch_INCLUDE_DIR torch/csrc/api/include/torch/torch.h HINTS ${ATTNSCOPE_TORCH_ROOT}/include)
find_library(LibTorch_CUDA_LIBRARY torch_cuda HINTS ${ATTNSCOPE_TORCH_ROOT}/lib)
if(LibTorch_INCLUDE_DIR)
    file(STRINGS ${LibTorch_INCLUDE_DIR}/torch/headeronly/version.h _lines REGEX "#define TORCH_VERSION_(MAJOR|MINOR|PATCH) [0-9]+")
    list(TRANSFORM _lines REPLACE ".* " "")
    list(JOIN _lines "." LibTorch_VERSION)
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch
    REQUIRED_VARS LibTorch_INCLUDE_DIR LibTorch_CUDA_LIBRARY VERSION_VAR LibTorch_VERSION
    REASON_FAILURE_MESSAGE "name LibTorch 2.11 for CUDA 13 with -DATTNSCOPE_TORCH_ROOT=DIR (PyPI: site-packages/torch) (examples/demo.sh fetches it)")
if(LibTorch_FOUND AND NOT TARGET LibTorch::LibTorch)
    get_filename_component(LibTorch_LIB_DIR ${LibTorch_CUDA_LIBRARY} DIRECTORY)
    add_library(LibTorch::LibTorch INTERFACE IMPORTED)
    target_include_directories(LibTorch::LibTorch SYSTEM INTERFACE
        ${LibTorch_INCLUDE_DIR} ${LibTorch_INCLUDE_DIR}/torch/csrc/api/include)
    # The libraries are named by file: their own NEEDED entries (cuBLAS, cuDNN ...) are left to the real GPU's libraries
    # or to the virtual GPU's stand-ins at run time.
    target_link_libraries(LibTorch::LibTorch INTERFACE
        ${LibTorch_LIB_DIR}/libc10.so ${LibTorch_LIB_DIR}/libc10_cuda.so ${LibTorch_LIB_DIR}/libtorch_cpu.so
        -Wl,--no-as-needed ${LibTorch_CUDA_LIBRARY} -Wl,--as-needed)
    target_link_options(LibTorch::LibTorch INTERFACE -Wl,--allow-shlib-undefined -Wl,-rpath,${LibTorch_LIB_DIR})
endif()
