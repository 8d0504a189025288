--- Holds every laboratory that this process makes to its own numbers (reference/lab_sentences.lua).
-- tests/run.lua loads this file for each test, and tests of programs name it in LUA_INIT.

local CHECKED = "ladies.lab.laboratory"

-- Loads the module as any other searcher does, and has what its `new` makes checked.
table.insert(package.searchers, 2, function(name)
  if name ~= CHECKED then return nil end
  for i = 3, #package.searchers do
    local load, path = package.searchers[i](name)
    if type(load) == "function" then
      return function(...)
        local Laboratory = load(...)
        local new = Laboratory.new
        function Laboratory.new(...) return require "reference.lab_sentences"(new(...)) end
        return Laboratory
      end, path
    end
  end
end)
