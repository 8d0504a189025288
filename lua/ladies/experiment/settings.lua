--- Declares every setting of an experiment, once. The settings that are checked, shown by `ladies
-- train --help`, printed, stored in config.json and listed in the reference come from this table
-- and from the entries of methods, models, tasks and optimizers (ladies.experiment.kinds).
--
-- A setting is {name, type, default =, help =}, with the types of ladies.options. One without a
-- default may stay open; `follows` says what it becomes then. A default stands in the configuration
-- of every run that has the setting. So a setting that is added with one makes other runs of those
-- from before: finished studies train them again, and --resume refuses them. One with `follows`
-- does neither. What ladies.train has as an option is declared there (ladies.training.declared). A
-- setting has a place:
--
--   experiment   what the others have in common
--   data         the data set and what is done to it
--   sampler, model   of those methods and models alone that name it in their `settings`
--   task         of tasks, which have written them down
--   optimizer    of every optimizer, or, with of_some, of those alone that name it
--   training, validation

local core = require "ladies_core"
local activation = require "ladies.nn.activation"
local complete = require "ladies.data.complete"
local declared = require "ladies.training.declared"
local errors = require "ladies.base.errors"
local GcnConv = require "ladies.nn.gcn_conv"
local of_sampler = require "ladies.sampling.declared"
local options = require "ladies.base.options"
local tables = require "ladies.base.tables"

local settings = {}

local load = complete.SPEC

-- All settings by their place, in the order of the help. The defaults are those of the preset
-- `default`.
local PLACES = {
  {"experiment",
    {"method", "string", default = "ladies", help = "what is trained"},
    {"model", "string", follows = "gcn in other presets, and with histories",
      help = "the network"},
    {"task", "string", follows = "what the data set is for",
      help = "what is learned, and by which metrics it is judged"},
    {"preset", "default|paper|code", default = "default",
      help = "our settings, those of the paper's text, or those of its authors' program"},
    declared.find "seed",
    {"layers", "positive integer", default = 5, help = "propagations"},
    {"hidden", "positive integer", default = 256, help = "width of the hidden layers"},
    {"normalize", "sym|row|none", default = "sym",
      help = "P: D^-1/2 (A+I) D^-1/2, D^-1 (A+I) or A+I"},
  },
  {"data",
    {"dataset", "string", default = "wordnet", help = "data set by name or path"},
    {"split", load.split, help = "10/10/80 per cent for training, validation and test; "
      .. "stratified:10/10/80; 20-per-class[:500/1000]; TRAIN,VAL,TEST, files with a node a line; "
      .. "or which of the splits that the data set has"},
    {"split_seed", load.split_seed, follows = "1", help = "of a random split"},
    {"directed", load.directed, follows = "symmetrize",
      help = "edges as they are listed, or both ways"},
    {"parallel", load.parallel, follows = "keep where edges have features, types or times, else "
      .. "merge", help = "several edges of one pair of nodes, as entries of their own or as one"},
    {"make_features", load.make_features, help = "features for a graph without any"},
    {"max_ids", load.max_ids, help = "the most nodes, columns or classes that a file may ask for "
      .. "by a number alone"},
    {"ids", load.ids, follows = "numbers from 0",
      help = "how tables name nodes, of which the first column of the features is then one"},
    {"classes", load.classes, follows = "numbers", help = "how tables give classes: a number or a "
      .. "name for each node, or a column of 0 and 1 for each class"},
    {"labels_as", load.labels_as, follows = "targets where a number is not whole, else classes",
      help = "what numbers are that a data set has for its nodes"},
    {"features_in", load.features_in, follows = "memory, or file where it takes more than a "
      .. "quarter of that", help = "whether the features are read, or stay in their file"},
    {"features", "as_given|row_normalized|standardized", default = "as_given",
      help = "row_normalized: each row divided by its sum; standardized: each column with mean 0 "
        .. "and standard deviation 1 over the training nodes"},
    {"shuffle", "none|labels|edges|both", default = "none",
      help = "control experiments: labels or edges that are shuffled"},
  },
  {"sampler",
    of_sampler.setting(nil, "samples", {default = 512}),
    of_sampler.setting(nil, "draw"),
    of_sampler.setting(nil, "debias"),
    of_sampler.setting(nil, "self_nodes", {[2] = "none|previous|batch|auto", default = "auto",
      help = "nodes that every sampled layer holds besides: none, the previous layer's, the "
        .. "batch's; auto is none where a batch holds all training nodes, else previous"}),
    of_sampler.setting(nil, "union"),
    of_sampler.setting(nil, "row_normalize"),
    of_sampler.setting(nil, "probability"),
    of_sampler.setting(nil, "flat"),
  },
  {"model",
    {"activation", activation.names, default = "relu", help = "after each hidden layer"},
    {"dropout", "number in [0, 1)", default = 0.3, help = "after each hidden layer"},
    {"input_dropout", "number in [0, 1)", follows = "0", help = "of the features"},
    {"norm", "boolean", follows = "false", help = "layer normalisation before each activation"},
    {"residual", "boolean", follows = "false", help = "hidden layers add what they are given"},
    {"head", "none|linear|concat|max", default = "none",
      help = "a linear layer after the last propagation, or none; concat and max: it reads the "
        .. "outputs of all layers (jumping knowledge)"},
    {"head_dropout", "number in [0, 1)", default = 0, help = "before the linear layer of the head"},
    {"order", GcnConv.orders, default = "auto",
      help = "of the linear map and the propagation in a layer"},
  },
  {"task"},
  {"optimizer",
    {"optimizer", "string", follows = "adam, or adamw with a decoupled decay",
      help = "what makes the steps"},
    table.unpack(declared.groups.optimizer)},
  {"training", table.unpack(declared.groups.training)},
  {"validation",
    table.unpack(declared.groups.validation)},
}

-- The places whose settings a method, a model or a task has only when it names them.
local NAMED = {sampler = true, model = true, task = true}

-- Converts a setting as it is written above to {name =, type =, default =, help =, place =, of_some
-- = whether only those entries have it that name it}.
local function read(one, place, of_some)
  local type_text = one[2]
  if one.default == nil and not type_text:find(" or nil", 1, true) then
    type_text = type_text .. " or nil"
  end
  return {name = one[1], type = type_text, default = one.default, follows = one.follows,
    help = one.help, place = place, of_some = of_some}
end

--- The settings declared in this file, by name.
settings.common = {}

local common = settings.common
for _, group in ipairs(PLACES) do
  local place = group[1]
  for i = 2, #group do
    local one = group[i]
    common[one[1]] = read(one, place, NAMED[place] or one.of_some)
  end
end

-- ---------------------------------------------------------------- who takes what

--- Returns the names of the settings that an entry takes, in its order.
function settings.names_of(entry)
  return tables.map(entry.settings, function(one) return type(one) == "table" and one[1] or one end)
end

--- Tells whether an entry takes the setting of this name.
function settings.takes(entry, name)
  for _, taken in ipairs(settings.names_of(entry)) do
    if taken == name then return true end
  end
  return false
end

--- Returns the settings of an experiment with these entries, {sampler = a method, model = a model,
-- task = a task}, as {name =, type =, default =, help =, place =, of_some =} in the order of the
-- table: those of every experiment, those that the entries name, and the entries' own.
function settings.of(entries)
  local list = {}
  for _, group in ipairs(PLACES) do
    local place = group[1]
    for i = 2, #group do
      local one = common[group[i][1]]
      if not one.of_some or settings.takes(entries[place], one.name) then list[#list + 1] = one end
    end
    for _, one in ipairs(entries[place] and entries[place].settings or {}) do
      if type(one) == "table" then list[#list + 1] = read(one, place, true) end
    end
  end
  return list
end

--- Returns an entry that takes every setting that any of the entries takes; `entries` is a table by
-- name.
function settings.union(entries)
  local whole = {settings = {}}
  for _, name in ipairs(tables.sorted_keys(entries)) do
    for i, key in ipairs(settings.names_of(entries[name])) do
      if not settings.takes(whole, key) then
        table.insert(whole.settings, entries[name].settings[i])
      end
    end
  end
  return whole
end

--- Returns the type of ladies.options that allows the names of the entries, a table by name, as
-- words.
function settings.one_of(entries)
  local names = table.concat(tables.sorted_keys(entries), "|")
  return names:find "|" and names or names .. "|"
end

--- Returns the names of those entries that take a setting; `entries` is a table by name.
function settings.owners(entries, name)
  local owners = {}
  for _, owner in ipairs(tables.sorted_keys(entries)) do
    if settings.takes(entries[owner], name) then owners[#owners + 1] = owner end
  end
  return owners
end

-- Returns what is wrong with an element of an entry's `settings`, or nil.
local function wrong_element(one, place)
  if type(one) == "string" then
    local there = common[one]
    if there and there.of_some and there.place == place then return nil end
    return ("%s is no setting of %s%s"):format(one, options.with_article(place),
      there and "; every experiment has it"
        or options.hint(one, tables.sorted_keys(common), "there are"))
  elseif type(one) ~= "table" or type(one[1]) ~= "string" or type(one[2]) ~= "string"
    or type(one.help) ~= "string" then
    return 'a setting is a name, or {"name", "type", default = value, help = "what it is"}'
  elseif not one[1]:find "^%l[%l%d_]*$" then
    return ('the name "%s" must be small letters, digits and _'):format(one[1])
  elseif common[one[1]] then
    return ("%s is a setting already: choose another name"):format(one[1])
  end
end

--- Returns the entry, whose settings get this place; fails, with a message that begins with
-- `where`, when its `settings` or `defaults` are wrong.
function settings.check_entry(where, entry, place)
  for i, one in ipairs(options.value(where, "settings", entry.settings, "table")) do
    local wrong = wrong_element(one, place)
    if wrong then errors.fail(("%s: settings[%d]: %s"):format(where, i, wrong)) end
    if type(one) == "table" then
      options.value(where, "the default of " .. one[1], one.default, read(one).type)
    end
  end
  for name, value in pairs(options.value(where, "defaults", entry.defaults or {}, "table")) do
    local there = common[name]
    if not there then
      errors.fail(('%s: defaults: no setting "%s"%s'):format(where, name,
        options.hint(name, tables.sorted_keys(common), "there are")))
    end
    options.value(where, "the default of " .. name, value, there.type)
  end
  return entry
end

--- Returns those values of a configuration whose settings have one of these places.
function settings.at(config, ...)
  local wanted, values = {}, {}
  for _, place in ipairs{...} do wanted[place] = true end
  for name, one in pairs(common) do
    if wanted[one.place] then values[name] = config[name] end
  end
  return values
end

-- ---------------------------------------------------------------- in words

--- Returns a value of a setting as a text: "true", "0.3", "512,256".
function settings.show(value)
  return core.printable(type(value) == "table" and table.concat(value, ",") or tostring(value))
end

--- Returns the names of the settings in a configuration, in the order of the table, with those of
-- the user's own code last.
function settings.names(config)
  local list, own = {}, {}
  for _, group in ipairs(PLACES) do
    for i = 2, #group do
      if config[group[i][1]] ~= nil then list[#list + 1] = group[i][1] end
    end
  end
  for _, name in ipairs(tables.sorted_keys(config)) do
    if not common[name] then own[#own + 1] = name end
  end
  return tables.append(list, own)
end

--- Returns a configuration, or some settings of one, as a text such as "layers 5, hidden 256, ...",
-- without the settings named after it.
function settings.text(config, ...)
  local words, without = {}, {}
  for _, name in ipairs{...} do without[name] = true end
  for _, name in ipairs(settings.names(config)) do
    if not without[name] then
      words[#words + 1] = ("%s %s"):format(name:gsub("_", " "), settings.show(config[name]))
    end
  end
  return table.concat(words, ", ")
end

return settings
