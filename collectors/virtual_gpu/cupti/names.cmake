# Tables of names out of CUPTI's own headers: {307, "cuLaunchKernel"}, ... The numbers are NVIDIA's and grow with each release.
# attnscope_enum_names(HEADER PATTERN OUT): PATTERN matches `<prefix>(name) = (number)`.
function(attnscope_enum_names header pattern out)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
    file(STRINGS ${header} lines REGEX "${pattern}")
    set(text "")
    foreach(line IN LISTS lines)
        if(line MATCHES "${pattern}")
            string(APPEND text "{${CMAKE_MATCH_2}, \"${CMAKE_MATCH_1}\"},\n")
        endif()
    endforeach()
    file(CONFIGURE OUTPUT ${out} CONTENT "${text}" @ONLY)
endfunction()

set(generated ${CMAKE_CURRENT_BINARY_DIR}/generated)
attnscope_enum_names(${CudaHeaders_CUPTI_DIR}/cupti_driver_cbid.h
    "CUPTI_DRIVER_TRACE_CBID_([A-Za-z0-9_]+) *= ([0-9]+)," ${generated}/driver_names.inc)
attnscope_enum_names(${CudaHeaders_CUPTI_DIR}/cupti_runtime_cbid.h
    "CUPTI_RUNTIME_TRACE_CBID_([A-Za-z0-9_]+) *= ([0-9]+)," ${generated}/runtime_names.inc)
attnscope_enum_names(${CudaHeaders_CUPTI_DIR}/cupti_result.h
    "^ *(CUPTI_[A-Z0-9_]+) *= ([0-9]+)," ${generated}/result_names.inc)

# The functions that the library exports, as strings.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/libcupti.so.13.txt functions REGEX "^[A-Za-z]")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/libcupti.so.13.txt)
set(text "")
foreach(function IN LISTS functions)
    string(APPEND text "\"${function}\",\n")
endforeach()
file(CONFIGURE OUTPUT ${generated}/function_names.inc CONTENT "${text}" @ONLY)
