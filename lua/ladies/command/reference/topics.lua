--- Sorts all public functions by topics, each of which has a page of the reference. topics()
-- returns an array of
--   name, title, about   its file without .md, its heading and a sentence
--   sections             an array of
--     name               "ladies.nn" of a module, "Tensor" of a class, nil of the functions of the
--                        library itself
--     class              the metatable of a class
--     entries            an array of {name = "ladies.nn.gcn" or "Tensor:sum", value = the function,
--                        is_method =, same_as = the name that it has in an earlier section}

local experiments = require "ladies.command.experiments"
local help = require "ladies.prompt.help"
local ladies = require "ladies"
local signature = require "ladies.command.reference.signature"
local tables = require "ladies.base.tables"

-- The topics, with the members of the library and the classes that belong to each.
local TOPICS = {
  {name = "tensors", title = "Tensors, ids and random numbers",
    about = "Dense numbers, vectors of ids, and the generator that all draws come from.",
    members = "tensor zeros ones full where concat_rows index range rng",
    classes = "Tensor Index Rows Rng"},
  {name = "matrices", title = "Sparse matrices",
    about = "Graphs, propagation matrices and blocks of mini-batches as CSR matrices.",
    members = "matrix csr edge_matrix edge_order edge_one_way sparse block_diagonal segments " ..
      "eigenvectors",
    classes = "Matrix"},
  {name = "gradients", title = "Steps and gradients",
    about = "What is recorded, for how long, and operations of one's own.",
    members = "step no_grad in_bfloat16 bfloat16_units op gradcheck", classes = "Step"},
  {name = "data", title = "Data sets and graphs",
    about = "Loading, making, splitting and writing data sets; the graph of one.",
    members = "data generate graph partition", classes = "Dataset EdgeData Graph"},
  {name = "samplers", title = "Samplers and mini-batches",
    about = "The methods, what they are made of, and the loop over mini-batches.",
    members = "batches samplers sampling"},
  {name = "links", title = "Links",
    about = "Edges as examples: splits, negatives, what is left out of propagation, and ranks.",
    members = "links", classes = "Edges"},
  {name = "networks", title = "Networks and losses",
    about = "Models, layers, first weights and losses; files of models. " ..
      "`ladies.nn.initialize.names` is the type of the option `init`.",
    members = "nn loss save_model load_model",
    classes = "Gcn GcnConv Linear LinkDecoder Dropout LayerNorm BatchNorm Pooling " ..
      "Buffers"},
  {name = "tasks", title = "Tasks",
    about = "What is learned of a data set, by which loss, and by which metrics it is judged.",
    members = "task", classes = "Task"},
  {name = "training", title = "Training",
    about = "ladies.train, and the parts of a loop of one's own.",
    members = "train early_stopping schedule optim checkpoint log progress run_folder summary " ..
      "timer",
    classes = "Optimizer Average"},
  {name = "ranks", title = "Several processes",
    about = "What processes that mpirun or srun has started give each other. `ladies.comm.rank` " ..
      "is the number of this one, from 0, and `ladies.comm.size` how many there are, 1 without " ..
      "a launcher.",
    members = "comm"},
  {name = "evaluation", title = "Inference and metrics",
    about = "Logits over the whole graph or by sampling, F1, and finished runs.",
    members = "inference metrics smoothing projection saved_run", classes = "SavedRun"},
  {name = "studies", title = "Experiments and studies",
    about = "Runs from settings; comparisons, sweeps and the search for settings.",
    members = "experiment auto compare depth sweep reload",
    packages = {"paper", "followers"}},
  {name = "laboratory", title = "The laboratory",
    about = "What is to be known of a sampler before it trains anything.",
    members = "lab", classes = "Laboratory"},
  {name = "files", title = "Files",
    about = "Arrays, tables, matrices and archives on disk. `ladies.pickle.none` is the None of " ..
      "pickles.",
    members = "npy npz safetensors pickle mtx text zip file folder",
    classes = "Npz ArrayReader TableReader Safetensors SafetensorsWriter EdgeRuns FileWriter " ..
      "GraphRows PickledArray Names Zip"},
  {name = "program", title = "The program",
    about = "Help, pictures, memory, threads, other programs, errors and options. " ..
      "`ladies.version` is the version, as text, and `ladies.have_metis` tells whether METIS is " ..
      "built in.",
    members = "help help_text show plot home memory memory_trim threads process errors options",
    classes = "Figure Process Workers"},
}

-- Members of the library that are data and no functions.
local NO_FUNCTIONS = {docs = true, _glossary = true, presets = true}

-- The names in a text, with spaces between them.
local function words(text)
  local names = {}
  for name in (text or ""):gmatch "%S+" do names[#names + 1] = name end
  return names
end

local function functions_of(t)
  local names = {}
  for name, value in pairs(t) do
    if type(value) == "function" and not name:find "^_" then names[name] = value end
  end
  return names
end

-- Adds the section of a module, and then the sections of the modules in it.
local function add_module(add, name, t)
  local entries, below = {}, {}
  local is_class = rawget(t, "__name") ~= nil
  for _, key in ipairs(tables.sorted_keys(functions_of(t))) do
    if not (is_class and signature.is_method(t[key])) then
      entries[#entries + 1] = {name = name .. "." .. key, value = t[key]}
    end
  end
  for key, value in pairs(t) do
    local is_module = type(key) == "string" and not key:find "^_" and type(value) == "table"
    if is_module then below[key] = value end
  end
  add{name = name, entries = entries}
  for _, key in ipairs(tables.sorted_keys(below)) do
    add_module(add, name .. "." .. key, below[key])
  end
end

local function add_class(add, name, class)
  local entries, methods = {}, functions_of(rawget(class, "__methods") or class)
  for _, key in ipairs(tables.sorted_keys(methods)) do
    local is_method = signature.is_method(methods[key])
    if key ~= "new" then
      entries[#entries + 1] = {
        name = name .. (is_method and ":" or ".") .. key, value = methods[key],
        is_method = is_method,
      }
    end
  end
  add{name = name, class = class, entries = entries}
end

-- Returns the sections of a topic. named: the names that functions have in earlier sections.
local function sections_of(topic, named)
  local sections, seen = {}, {}
  local function add(section)
    for _, entry in ipairs(section.entries) do
      entry.same_as = named[entry.value]
      named[entry.value] = entry.same_as or entry.name
    end
    local is_new = section.class ~= nil
    for _, entry in ipairs(section.entries) do is_new = is_new or not entry.same_as end
    if is_new then sections[#sections + 1] = section end
  end
  local own, modules = {}, {}
  for _, member in ipairs(words(topic.members)) do
    local value = ladies[member]
    if type(value) == "function" then
      own[#own + 1] = {name = "ladies." .. member, value = value}
    elseif not seen[value] then
      seen[value] = true
      modules[#modules + 1] = {name = "ladies." .. member, value = value}
    end
  end
  add{entries = own}
  for _, module in ipairs(modules) do add_module(add, module.name, module.value) end
  for _, name in ipairs(topic.packages or {}) do
    add_module(add, "experiments." .. name, experiments.load(name))
  end
  for _, name in ipairs(words(topic.classes)) do
    local class = help.classes()[name]
    if class then add_class(add, name, class) end     -- a plugin that was not built has none
  end
  return sections
end

-- Fails for a public member that no topic names, since the reference would lack it silently.
local function check_complete()
  local has = tables.merged(NO_FUNCTIONS)
  for _, topic in ipairs(TOPICS) do
    for _, name in ipairs(words(topic.members)) do has[name] = true end
    for _, name in ipairs(words(topic.classes)) do has[name] = true end
  end
  for _, all in ipairs{ladies, help.classes()} do
    for name, value in pairs(all) do
      local is_data = type(value) ~= "function" and type(value) ~= "table"
      if not is_data and not has[name] then
        error(("topics.lua names no topic for %s"):format(name), 0)
      end
    end
  end
end

return function()
  check_complete()
  local named = {}
  return tables.map(TOPICS, function(topic)
    return {
      name = topic.name, title = topic.title, about = topic.about,
      sections = sections_of(topic, named),
    }
  end)
end
