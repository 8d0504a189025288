--- Loads the methods of the program with another source in place of one sampler's file.

local files = require "tools.files"
local methods = require "ladies.experiment.methods"

local mutants = {}

-- The modules that hold the samplers, and are made again.
local HOLDERS = {"ladies.samplers", "ladies.experiment.methods"}

local function text_of(module)
  return files.read(assert(package.searchpath(module, package.path)))
end

--- Returns the text of a sampler's file. Where it requires sampling.layerwise, by which layer-wise
-- samplers are made, the text of that module stands in place of the name, so that the rules of
-- mutants change it, too.
function mutants.source(name)
  local text = text_of("ladies.samplers." .. name)
  local first, last = text:find('require "ladies.sampling.layerwise"', 1, true)
  if not first then return text end
  return ("%s(function()\n%s\nend)()%s"):format(text:sub(1, first - 1),
    text_of "ladies.sampling.layerwise", text:sub(last + 1))
end

-- Loads the methods with `text` as the source of the sampler `name`, and puts the modules back.
local function methods_with(name, text)
  local module, kept = "ladies.samplers." .. name, {}
  local chunk = assert(load(text, "@" .. name .. ".lua", "t"))
  for _, one in ipairs{module, table.unpack(HOLDERS)} do
    kept[one], package.loaded[one] = package.loaded[one], nil
  end
  local ok, made = pcall(function()
    package.loaded[module] = chunk(module)
    return require "ladies.experiment.methods"
  end)
  for one, value in pairs(kept) do package.loaded[one] = value end
  return assert(ok and made, made)
end

--- Puts the method whose sampler is the file `name`, with `text` as its source, under the name
-- "mutant" into the methods that experiments know.
function mutants.install(name, text, method)
  local entry = methods_with(name, text).by_name[method]
  entry.title = "mutant"
  methods.by_name.mutant = entry
end

return mutants
