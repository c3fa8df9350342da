# CUDA's and CUPTI's headers, from a toolkit or from PyPI's small wheels. Only headers are used: nothing links NVIDIA's libraries.
# Sets CudaHeaders_FOUND and the target CudaHeaders::CudaHeaders.
find_path(CudaHeaders_INCLUDE_DIR cuda_runtime_api.h
    HINTS ${ATTNSCOPE_CUDA_ROOT}/include ${ATTNSCOPE_CUDA_ROOT}/targets/x86_64-linux/include
          $ENV{CUDA_HOME}/include $ENV{CUDA_PATH}/include /usr/local/cuda/include)
find_path(CudaHeaders_CUPTI_DIR cupti.h
    HINTS ${CudaHeaders_INCLUDE_DIR} ${ATTNSCOPE_CUDA_ROOT}/extras/CUPTI/include /usr/local/cuda/extras/CUPTI/include)
if(CudaHeaders_INCLUDE_DIR)
    file(STRINGS ${CudaHeaders_INCLUDE_DIR}/cuda.h _line REGEX "#define CUDA_VERSION [0-9]+")
    string(REGEX MATCH "[0-9]+$" _version "${_line}")
    math(EXPR _major "${_version} / 1000")
    math(EXPR _minor "${_version} % 1000 / 10")
    set(CudaHeaders_VERSION ${_major}.${_minor})
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CudaHeaders
    REQUIRED_VARS CudaHeaders_INCLUDE_DIR CudaHeaders_CUPTI_DIR VERSION_VAR CudaHeaders_VERSION
    REASON_FAILURE_MESSAGE "name a CUDA 13 toolkit or PyPI's nvidia/cu13 folder with -DATTNSCOPE_CUDA_ROOT=DIR (tests/run.sh fetches it)")
if(CudaHeaders_FOUND AND NOT TARGET CudaHeaders::CudaHeaders)
    add_library(CudaHeaders::CudaHeaders INTERFACE IMPORTED)
    target_include_directories(CudaHeaders::CudaHeaders SYSTEM INTERFACE ${CudaHeaders_INCLUDE_DIR} ${CudaHeaders_CUPTI_DIR})
endif()
