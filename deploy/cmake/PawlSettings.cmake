# pawl_settings(target): language, warnings, visibility and sanitizers of everything we compile.

set(PAWL_WARNINGS -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Wformat=2
                  -Wswitch-enum -Wvla)

set(PAWL_SANITIZE_FLAGS "")
if(PAWL_SANITIZE STREQUAL "address-undefined")
    # Criterion reports success for a recovered UBSan error, so none may be recovered from.
    set(PAWL_SANITIZE_FLAGS -fsanitize=address,undefined -fno-sanitize-recover=all)
elseif(PAWL_SANITIZE STREQUAL "thread")
    set(PAWL_SANITIZE_FLAGS -fsanitize=thread)
elseif(PAWL_SANITIZE)
    message(FATAL_ERROR "PAWL_SANITIZE is '${PAWL_SANITIZE}': use address-undefined or thread")
endif()

function(pawl_settings target)
    set_target_properties(${target} PROPERTIES
        C_STANDARD 11
        C_STANDARD_REQUIRED ON
        C_EXTENSIONS OFF
        C_VISIBILITY_PRESET hidden
        POSITION_INDEPENDENT_CODE ON)
    target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
    target_compile_options(${target} PRIVATE ${PAWL_WARNINGS} $<$<BOOL:${PAWL_WERROR}>:-Werror>)
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/include"
                               "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}")
    if(PAWL_SANITIZE_FLAGS)
        target_compile_options(${target} PRIVATE ${PAWL_SANITIZE_FLAGS} -fno-omit-frame-pointer -g)
        target_link_options(${target} PRIVATE ${PAWL_SANITIZE_FLAGS})
    else()
        target_compile_options(${target} PRIVATE -fstack-protector-strong
            $<$<CONFIG:Release,RelWithDebInfo>:-D_FORTIFY_SOURCE=2>)
        target_link_options(${target} PRIVATE -Wl,-z,relro,-z,now)
    endif()
endfunction()
