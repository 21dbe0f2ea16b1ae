# yoke_room(FLOOR/ROOM [LIBRARIES...]): a static library of all .c files of a room, linked against the
# rooms declared before it. Kernel files are compiled for the level that their suffix names.

set(YOKE_WARNINGS -Wall -Wextra -Wshadow -Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes
    -Wvla -Wno-unknown-pragmas -fno-math-errno -fno-trapping-math)
if(YOKE_WERROR)
  list(APPEND YOKE_WARNINGS -Werror)
endif()
if(YOKE_SANITIZE)
  add_compile_options(-fsanitize=${YOKE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${YOKE_SANITIZE})
endif()

if(YOKE_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# Suffix = compile flags = level (a file of a lower level never runs instructions of a higher one).
set(YOKE_FLAGS_ref -ffp-contract=off)
set(YOKE_FLAGS_avx2 -mavx2 -mfma -mf16c)
set(YOKE_FLAGS_avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx2 -mfma -mf16c
    -mprefer-vector-width=512)

set(YOKE_ROOM_TARGETS "")
set(YOKE_ROOM_TARGETS_REVERSED "")

function(yoke_room path)
  string(REPLACE "/" "_" target "yoke_${path}")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${path}/*.c)
  list(FILTER sources EXCLUDE REGEX "/app/cli/main\\.c$")
  if(NOT sources)
    return()
  endif()
  foreach(source IN LISTS sources)
    if(source MATCHES "_(avx512|avx2)\\.c$" AND NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
      list(REMOVE_ITEM sources ${source})
    elseif(source MATCHES "/kernels/.*_(ref|avx512|avx2)\\.c$")
      set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${YOKE_FLAGS_${CMAKE_MATCH_1}}")
    endif()
  endforeach()
  add_library(${target} STATIC ${sources})
  target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
  target_compile_options(${target} PRIVATE ${YOKE_WARNINGS})
  target_link_libraries(${target} PUBLIC ${YOKE_ROOM_TARGETS_REVERSED} ${ARGN})
  set(YOKE_ROOM_TARGETS ${YOKE_ROOM_TARGETS} ${target} PARENT_SCOPE)
  set(YOKE_ROOM_TARGETS_REVERSED ${target} ${YOKE_ROOM_TARGETS_REVERSED} PARENT_SCOPE)
endfunction()
