# Finds SystemC and the C++ standard its library was built with.
#
# Debian's package has no CMake file, and the library refuses to link unless SC_CPLUSPLUS names the standard
# of the library itself. That standard is part of an exported symbol, so it is read from there.
find_path(SystemC_INCLUDE_DIR NAMES systemc HINTS $ENV{SYSTEMC_HOME}/include)
find_library(SystemC_LIBRARY NAMES systemc HINTS $ENV{SYSTEMC_HOME} PATH_SUFFIXES lib lib-linux64)

if(SystemC_INCLUDE_DIR AND EXISTS "${SystemC_INCLUDE_DIR}/sysc/kernel/sc_ver.h")
  file(STRINGS "${SystemC_INCLUDE_DIR}/sysc/kernel/sc_ver.h" _version_lines
       REGEX "^#define SC_VERSION_(MAJOR|MINOR|PATCH) ")
  string(REGEX REPLACE "[^0-9;]+" "" _version_numbers "${_version_lines}")
  list(JOIN _version_numbers "." SystemC_VERSION)
endif()

if(SystemC_LIBRARY)
  file(STRINGS "${SystemC_LIBRARY}" _api_symbol REGEX "sc_api_version_[0-9_]+cxx[0-9]+L" LIMIT_COUNT 1)
  string(REGEX MATCH "cxx([0-9]+L)" _ "${_api_symbol}")
  set(SystemC_CPLUSPLUS "${CMAKE_MATCH_1}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  SystemC
  REQUIRED_VARS SystemC_LIBRARY SystemC_INCLUDE_DIR SystemC_CPLUSPLUS
  VERSION_VAR SystemC_VERSION)

if(SystemC_FOUND AND NOT TARGET SystemC::systemc)
  find_package(Threads REQUIRED)
  add_library(SystemC::systemc UNKNOWN IMPORTED)
  set_target_properties(
    SystemC::systemc
    PROPERTIES IMPORTED_LOCATION "${SystemC_LIBRARY}"
               INTERFACE_INCLUDE_DIRECTORIES "${SystemC_INCLUDE_DIR}"
               INTERFACE_COMPILE_DEFINITIONS "SC_CPLUSPLUS=${SystemC_CPLUSPLUS}"
               INTERFACE_LINK_LIBRARIES Threads::Threads)
endif()
