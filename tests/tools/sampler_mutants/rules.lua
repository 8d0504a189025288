--- Faults that people make in samplers, as rules that rewrite the text of one: {name, pattern,
-- replacement}, Lua patterns both. Every place that has the pattern is a mutant of its own.
-- same[file] says why the mutant of a sampler is the same in distribution, where it is.

local CORE = 'require("ladies_core")'

-- A rule that puts a statement before the line that keeps a layer's block.
local function before_block(name, statement)
  return {name, "\n( *)(return adj, src)", "\n%1" .. statement .. "\n%1%2"}
end

-- A rule that puts a sampler around the one that the file makes: `body` has its inner sampler and
-- the arguments of the call, and what it keeps in `kept`, a table.
local function around(name, body, same)
  return {name, "\nreturn ([%w_]+)\n$", [[

return function(...)
  local inner, kept = %1(...), {}
  local function call(_, seeds, rng, place)
    ]] .. body .. [[

  end
  if type(inner) == "function" then
    return function(seeds, rng, place) return call(nil, seeds, rng, place) end
  end
  return setmetatable({}, {__call = call, __index = inner})
end
]], same = same}
end

-- Such a one that changes the matrix of the first or the last block.
local function around_block(name, change, last)
  return around(name .. (last and ", last layer" or ", first layer"), ([[
    local batch = inner(seeds, rng, place)
    local block = batch.blocks[%s]
    local adj, core = block.adj, require("ladies_core")
    batch.blocks[%s] = setmetatable({adj = %s}, {__index = block})
    return batch]]):format(last and "#batch.blocks" or "1", last and "#batch.blocks" or "1",
      change))
end

-- Why a memory of random numbers is no fault of samplers that go in step with training.
local MAY_REMEMBER = {}
for _, name in ipairs{"asgcn", "bandit", "bliss", "grapes", "mvs", "pass", "vrgcn"} do
  MAY_REMEMBER[name] = "numbers of another call are as good, and in step it may remember them"
end

local rules = {
  -- Probabilities.
  {"norm not squared", "col_sums%(2%)", "col_sums(1)"},
  {"norm without its root", ":sqrt%(%)", ""},
  {"norm with a root more", "(col_sums%(2%))", "%1:sqrt()"},
  {"p by sums, not squares", "{power = power,", "{power = 1,"},
  {"p for the norms too", "probability == \"uniform\"", "probability ~= \"uniform\""},
  {"flat turned round", "opts%.flat", "not opts.flat"},
  {"p to the fourth", "( *)(local pick, w = sampling%.choice%(p)", "%1p = p:square()\n%1%2"},
  {"p is the reciprocal", "( *)(local pick, w = sampling%.choice%(p)",
    "%1p = p:above(0) / (p + 1 - p:above(0))\n%1%2"},
  {"p of the layer below", "function%(U%) return named%.of%(U:col_sums%(named%.power%)%) end",
    "function(_, near) return named.of(P:slice(near, near):col_sums(2)) end"},
  {"norms of another layer", "norms:of%(at%.layer, near%)", "norms:of(at.layer %% 2 + 1, near)"},
  {"norms forgotten", " %* norms:of%(at%.layer, near%)", ""},
  {"norms squared", "norms:of%(at%.layer, near%)", "norms:of(at.layer, near):square()"},
  {"p of all nodes in order", "p%[near%]", "p:slice(1, #near)"},
  -- Draws.
  {"with replacement", "draw = [%w_.]+([,}])", "draw = \"wr\"%1"},
  {"without replacement", "draw = [%w_.]+([,}])", "draw = \"wor\"%1"},
  {"poisson", "draw = [%w_.]+([,}])", "draw = \"poisson\"%1"},
  {"debias missing", "debias = [%w_.]+([,}])", "debias = false%1"},
  {"debias always", "debias = [%w_.]+([,}])", "debias = true%1"},
  {"union after", "union = [%w_.]+([,}])", "union = \"post\"%1"},
  {"replace turned round", "replace = opts%.replace", "replace = not opts.replace"},
  {"shared numbers apart", "shared = true", "shared = false"},
  {"count turned round", "count = mean", "count = not mean"},
  {"one sample more", "(opts%.samples%[l%])", "%1 + 1"},
  {"one sample less", "(opts%.samples%[l%])", "%1 - 1"},
  {"samples of another layer", "samples%[l%]", "samples[l %% 2 + 1]"},
  {"one sample more", "(self%.samples%[l%])", "%1 + 1"},
  -- Weights.
  {"weights upside down", "(scale_%l+)%(w%)", "%1(1 / w)"},
  {"weights squared", "(scale_%l+)%(w%)", "%1(w:square())"},
  {"weights doubled", "(scale_%l+)%(w%)", "%1(w * 2)"},
  {"weights forgotten", ":scale_%l+%(w%)", ""},
  {"one weight doubled", "(scale_%l+)%(w%)", "%1(w:clone():mul_at_(" .. CORE .. ".index{1}, 2))"},
  {"weights moved by one", "(scale_%l+)%(w%)",
    "%1(w[" .. CORE .. ".range(2, #w) .. " .. CORE .. ".index{1}])"},
  {"rows not normalised", ":row_normalize%(%)", ""},
  {"normalising turned round", "if opts%.row_normalize", "if not opts.row_normalize"},
  {"form turned round", "opts%.form == ", "opts.form ~= "},
  before_block("rows normalised once more", "adj = adj:row_normalize()"),
  before_block("weights of the block squared",
    "adj = adj:with_values(adj:entry_values():square())"),
  -- Nodes.
  {"relabelling off by one", "near%[pick%]",
    "near[pick:slice(2, #pick) .. pick:slice(1, 1)]"},
  before_block("ids off by one", "src = src:slice(2, #src) .. src:slice(1, 1)"),
  before_block("last node forgotten",
    "src = src:slice(1, #src - 1); adj = adj:pick_cols(" .. CORE .. ".range(1, #src))"),
  {"self nodes missing", "always = [%w_.]+([,}])", "always = nil%1"},
  {"own loops missing", "([=,] )opts%.self_nodes == \"previous\"", "%1false"},
  {"own loops always", "([=,] )opts%.self_nodes == \"previous\"", "%1true"},
  {"seeds of another layer", "\"batch\" and seeds", "\"batch\" and dst"},
  {"seeds of another layer", "\"previous\" and dst", "\"previous\" and seeds"},
  {"destinations not in front", "first = dst, ", ""},
  {"transposed P", "(\n *arguments%.check_square%([^\n]*, P[, %w]*%))", "%1\n  P = P:transpose()"},
  {"transposed block", "adj = %a+:induced%(nodes%):normalize[^\n]*", "%0:transpose()"},
  {"transposed block", "adj = own:induced%(nodes%)", "%0:transpose()"},
  -- Random numbers.
  {"one stream for all layers", "rng = rng([ ,}])", "rng = rng:at(1)%1"},
  {"constant random numbers", "rng = rng([ ,}])", "rng = " .. CORE .. ".rng(1)%1"},
  {"streams of layers are one", "(%l+):at%(stream%)", "%1:at(0)"},
  {"the same order twice", "rng:fork%(2%)", "rng:fork(1)"},
  around("a reused stream", "return inner(seeds, rng:at(1), place)", {
    labor = "its layers share one number of the rng by design, and at(1) has as good a one",
    clustergcn = "it draws from the epoch's generator"}),
  around("numbers without a rng", "return inner(seeds, " .. CORE .. ".rng(7), place)"),
  around("few random numbers", "return inner(seeds, " .. CORE .. ".rng(rng:below(8)), place)"),
  -- Memory.
  around("remembers by the seeds", [[
    local key = seeds:hash()
    kept[key] = kept[key] or inner(seeds, rng, place)
    return kept[key]
]]),
  around("every second mini-batch is the last one", [[
    local last = kept[seeds:hash()]
    kept = {}
    if last then return last end
    kept[seeds:hash()] = inner(seeds, rng, place)
    return kept[seeds:hash()]
]]),
  around("numbers of the call before", [[
    local before = kept[1] or rng
    kept[1] = rng
    return inner(seeds, before, place)
]], MAY_REMEMBER),
  around("goes on drawing from one generator", [[
    kept[1] = kept[1] or rng
    return inner(seeds, kept[1], place)
]], MAY_REMEMBER),
  -- Cluster-GCN.
  {"lambda's sign", "%* opts%.lambda", "* -opts.lambda"},
  {"lambda squared", "%* opts%.lambda", "* opts.lambda ^ 2"},
  {"other normalisation", "normalize%(opts%.normalize,", "normalize(\"sym\","},
  {"without self-loops", "self_loops = opts%.self_loops}%)", "self_loops = false})"},
  {"edges between clusters", "A:induced%(nodes%)", "A:induced(nodes):without_loops()"},
  {"every other cluster", "at = at %+ n\n", "at = at + 2 * n\n"},
  {"one cluster more", "#hand < most", "#hand <= most"},
  {"loss of all nodes", "united%(hand, \"train\"%)", "united(hand, \"nodes\")"},
  {"the next batch", "place%.index, n_batches", "place.index %% n_batches + 1, n_batches",
    same = {clustergcn = "an epoch has the same batches, the first one last"}},
  {"clusters without order", "training%[first%[at%]%]", "training[at]"},
  {"rng of the batch, not of the epoch", "place%.rng, place%.index", "place.rng:fork(9), "
    .. "place.index", same = {clustergcn = "the epoch's generator, forked, is as good"}},
  -- FastGCN.
  {"weight without its total", "return total / ", "return 1 / "},
  {"weight without the samples", "%(p%[src%] %* size%)", "p[src]"},
  {"candidates turned round", "opts%.candidates == \"touched\"", "opts.candidates ~= \"touched\""},
  -- VR-GCN.
  {"d / k' upside down", "P:degrees%(dst%) / (S:degrees%(%):clamp%(1, math.huge%))",
    "%1 / P:degrees(dst):clamp(1, math.huge)"},
  {"d / k' forgotten", "S:scale_rows%(times%)", "S"},
  {"d / k' squared", "S:scale_rows%(times%)", "S:scale_rows(times:square())"},
  {"control's sign", "%- adj:matmul%(h%[src%]%)", "+ adj:matmul(h[src])"},
  {"control without P^ H'", " %- adj:matmul%(h%[src%]%)", ""},
  {"control doubled", "(control = )P:rows%(dst%)", "%12 * P:rows(dst)"},
  {"history of the other layer", "history%[l %- 1%]", "history[self.layers + 1 - l]"},
  {"history never kept", "self:update%(batch%)", ""},
  {"history by sources", "copy_rows_%(batch%.blocks%[l%]%.dst,", "copy_rows_(batch.blocks[l].dst"
    .. ":sort(),"},
  {"noise without its root", "times:sqrt%(%)", "times"},
  -- LABOR.
  {"k off by one", "poisson_factors%((%l+), k,", "poisson_factors(%1, k + 1,"},
  {"k doubled", "poisson_factors%((%l+), k,", "poisson_factors(%1, 2 * k,"},
  {"c upside down", "poisson_rows%((%l+), c,", "poisson_rows(%1, 1 / c,"},
  {"pi forgotten", "{pi = pi, r = ", "{r = "},
  {"an iteration more", "iterated%(U, rows, k, loops, opts%.iterations%)",
    "iterated(U, rows, k, loops, opts.iterations + 1)"},
  {"ones at loops", "neighbours:scale_rows%(c%)", "neighbours"},
  -- Bandits, and what is learned.
  {"what is paid forgotten", "self%.players:pay(%b())", ""},
  {"paid by norms, not by squares", "norms = learning%.input_of%(WHERE, batch, l%):row_sums%(2%)",
    "%0:sqrt()"},
  {"reward not squared", "(block%.q%)):square%(%)", "%1"},
  {"reward without the weight", " %* block%.weight  ", "  "},
  {"reward of all degrees alike", " / block%.degrees%[S:row_of%(%)%]", ""},
  {"cap forgotten", "r:clamp%(0, opts%.cap%)", "r"},
  {"rate forgotten", " %* rate%[row%]", ""},
  {"q of the other layer", "players:probabilities%(at%.layer, U%)",
    "players:probabilities(at.layer %% 2 + 1, U)"},
  {"score without its one", ":relu%(%) %+ 1", ":relu() + 0.1"},
  {"score upside down", "norms %* %(score", "norms / (score"},
  {"norms of the other power", "squares:sqrt%(%)%), squares", "squares), squares"},
  -- GraphSAINT.
  {"aggregator upside down", "of_node%[P:row_of%(%)%] / of_entry",
    "of_entry / of_node[P:row_of()]"},
  {"aggregator of the other end", "of_node%[P:row_of%(%)%]", "of_node[P:col_of()]"},
  {"aggregator forgotten", "adj = adj:scale_entries%(norms%.aggregator%[adj%.edge%]%)", ""},
  {"lambda upside down", "loss = n / of_node", "loss = of_node / n"},
  {"loss weights doubled", "%(loss%[train%] / #train%)", "(loss[train] * 2 / #train)"},
  {"loss of all nodes of the batch", "/ #train%):scatter_add", "/ (#train // 2)):scatter_add"},
  {"edges by degrees", "1 / W:degrees%(%), 1 / W:col_sums%(%)", "W:degrees(), W:col_sums()"},
  {"one step more", "opts%.length, {", "opts.length + 1, {"},
  {"one root less", "uniform%(roots, opts%.samples, rng%)",
    "uniform(roots, opts.samples - 1, rng)"},
  {"roots everywhere", "uniform%(roots, opts%.samples",
    "uniform(" .. CORE .. ".range(1, P.n_rows), opts.samples"},
  {"frontier too long", "opts%.samples %- m,", "opts.samples,"},
  {"train forgotten", "loss_weight = place and norms%.weights%[nodes%] or nil,", ""},
  -- ShaDow.
  {"k off by one", "sample_rows%(frontier, opts%.samples,",
    "sample_rows(frontier, opts.samples + 1,"},
  {"one hop more", "_ = 1, opts%.depth do", "_ = 1, opts.depth + 1 do"},
  {"always from the seed", "frontier = nodes:slice%(known %+ 1, #nodes%)", "frontier = seed"},
  {"not normalised", ":normalize%(opts%.normalize, [^)]*%)", ""},
  {"row normalised", ":normalize%(opts%.normalize,", ":normalize(\"row\","},
  {"normalised as the whole", "adj:rows%(readout%)", "adj:rows(readout):row_normalize()"},
  {"readout off by one", "adj:rows%(readout%)", "adj:rows(readout + 1)"},
  -- PASS and GRAPES.
  {"mean over all draws and one", "with_values%(m / k%)", "with_values(m / (k + 1))"},
  {"multiplicity forgotten", "with_values%(m / k%)", "with_values(m:above(0) / k)"},
  {"weighted by P besides", "adj = S:with_values%(m / k%)", "adj = S:scale_entries(m / k)"},
  {"uniform draws", "{p = q, replace = true", "{replace = true"},
  {"attention without its softmax", "a:softmax%(%)", "a"},
  {"attention without P", ":concat%(U:entry_values%(%):reshape%(U%.nnz, 1%)%)",
    ":concat(U:entry_values():reshape(U.nnz, 1) * 0)"},
  {"attention of the rows alone", "U:dot_edges%(y:slice%(1, U%.n_rows%), y%)",
    "U:dot_edges(y:slice(1, U.n_rows), y * 0 + 1)"},
  {"policy without what is above", "%+ from_above", "+ 0 * from_above"},
  {"policy without its ReLU", "own%.b%[l%]%):relu%(%)", "own.b[l])"},
  {"policy upside down", ":sigmoid%(%)", ":sigmoid():square()"},
  -- MVS.
  {"floor forgotten", "norms:clamp%(least, math%.huge%)", "norms"},
  {"norms squared", "norms:clamp%(least, math%.huge%)", "norms:clamp(least, math.huge):square()"},
  {"mean over the batch", "w / self%.large", "w / #pick"},
  {"loss weights forgotten", "w / self%.large", "w:above(0) / self.large"},
  {"loss weights squared", "w / self%.large", "w:square() / self.large"},
  {"loss weights kept apart", "batch%.loss_weight = [^\n]*\n", "\n"},
  {"norms squared once more", "poisson%(self%.measured,", "poisson(self.measured:square(),"},
  {"uniform seeds", "poisson%(self%.measured,", "poisson(self.measured:above(0),"},
  {"one seed more", "self%.measured, self%.size,", "self.measured, self.size + 1,"},
}

for _, last in ipairs{false, true} do
  table.move({
    around_block("one entry doubled", "adj:scale_entries(core.ones(adj.nnz)"
      .. ":mul_at_(core.index{1}, 2))", last),
    around_block("a row doubled",
      "adj:scale_rows(core.ones(adj.n_rows):mul_at_(core.index{adj.n_rows}, 2))", last),
    around_block("values moved by one", "adj:with_values(adj:entry_values()[core.range(2, adj.nnz)"
      .. " .. core.index{1}])", last),
    around_block("weights to the power 0.9", "adj:with_values(adj:entry_values() ^ 0.9)", last),
    around_block("weights 2 % too large", "adj:scale_entries(core.ones(adj.nnz) * 1.02)", last),
  }, 1, 5, #rules + 1, rules)
end

-- The first position of the line that `at` is in.
local function line_start(text, at)
  while at > 1 and text:sub(at - 1, at - 1) ~= "\n" do at = at - 1 end
  return at
end

--- A rule's mutants of a text: calls f(mutated text, line of the place). Comments stay as they are.
local function apply(rule, text, f)
  local first, last = text:find(rule[2])
  while first do
    local code = text:find("[^\n]", first)
    if not text:sub(line_start(text, code), code):find "%-%-" then
      local changed = text:sub(first, last):gsub(rule[2], rule[3], 1)
      local _, line = text:sub(1, code):gsub("\n", "")
      f(text:sub(1, first - 1) .. changed .. text:sub(last + 1), line + 1)
    end
    first, last = text:find(rule[2], last + 1)
  end
end

--- The mutant that the rule of this name makes at its last place in a text.
local function last(name, text)
  local found
  for _, rule in ipairs(rules) do
    if rule[1] == name then apply(rule, text, function(changed) found = changed end) end
  end
  return assert(found, "no place for " .. name)
end

return {list = rules, apply = apply, last = last}
