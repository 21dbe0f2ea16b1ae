# make install: the program, the public headers, the licence.
include(GNUInstallDirs)
install(TARGETS yoke RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/yoke DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
