# make install: the program and its papers. The public headers follow with the library that they declare.
include(GNUInstallDirs)
install(TARGETS yoke RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
