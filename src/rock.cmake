# LADIES_ROCK_LUA: a rock of LuaRocks, the module for a stock lua5.4 alone. LuaRocks says where it puts
# Lua files and, in LADIES_ROCK_LIB, libraries, and installs nothing else in its tree: what `ladies.home`
# has lies among the Lua files.
set_target_properties(ladies PROPERTIES EXCLUDE_FROM_ALL ON)
install(TARGETS ladies_core LIBRARY DESTINATION ${LADIES_ROCK_LIB})
install(DIRECTORY lua/ladies lua/experiments DESTINATION ${LADIES_ROCK_LUA})
install(DIRECTORY datasets scripts DESTINATION ${LADIES_ROCK_LUA}/ladies_home
  FILES_MATCHING PATTERN "*.lua" PATTERN "*.py" PATTERN "datasets/*")
