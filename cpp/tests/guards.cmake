# The tests of the kernels. SOFTLOOKUP_SANITIZE is what -fsanitize= takes; empty for none.
set(SOFTLOOKUP_SANITIZE "" CACHE STRING "Sanitizers to compile with, e.g. address,undefined")
if(SOFTLOOKUP_SANITIZE)
  add_compile_options(-fsanitize=${SOFTLOOKUP_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${SOFTLOOKUP_SANITIZE})
  list(TRANSFORM UNIT_FLAGS REPLACE "^-O3$" "-O1")  # half the time to compile
endif()

add_library(guards OBJECT cpp/schedule.cpp cpp/pool.cpp cpp/units.cpp cpp/tests/oracle.cpp
                   cpp/tests/comparing.cpp cpp/tests/laying.cpp cpp/tests/running.cpp cpp/tests/parting.cpp
                   cpp/tests/drawing.cpp)
target_compile_options(guards PRIVATE -O2 -Wall -Wextra)
foreach(name kernels_test blocks_test backward_test traps_test pool_test)
  add_executable(${name} cpp/tests/${name}.cpp)
  target_compile_options(${name} PRIVATE -O1 -Wall -Wextra)
  target_link_libraries(${name} PRIVATE guards units)
endforeach()
