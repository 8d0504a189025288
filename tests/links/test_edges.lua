--- Edges as examples: splits, negatives, edges that are left out of blocks, ranks among candidates;
-- each against what plain loops over a dense matrix find.
local lu = require "luaunit"
local ladies = require "ladies"

local links, sampling, index = ladies.links, ladies.sampling, ladies.index
local tests = {}

local N = 40

-- A random adjacency: undirected or directed, with weights or without, with some self-loops.
local function adjacency(opts)
  local rng = ladies.rng(opts.seed or 3)
  local from = sampling.uniform(N, opts.edges or 90, {rng = rng, replace = true})
  local to = sampling.uniform(N, opts.edges or 90, {rng = rng, replace = true})
  local rows, cols = from, to
  if not opts.directed then rows, cols = from .. to, to .. from end
  local A = ladies.matrix{n_rows = N, n_cols = N, rows = rows, cols = cols}
  if not opts.loops then A = A:without_loops() end
  if not opts.weights then return A end
  local one = A:with_values(ladies.zeros(A.nnz):uniform_(0.5, 2, rng))
  return opts.directed and one or one:symmetrize()
end

local function graph(opts) return ladies.graph.new(adjacency(opts)) end

-- The edges at some positions as a set of texts, the two directions of an undirected one alike.
local function set_of(edges, positions)
  local set, n = {}, 0
  for _, at in ipairs((positions or ladies.range(1, #edges)):to_table()) do
    local u, v = edges.from[at], edges.to[at]
    if edges.undirected and u > v then u, v = v, u end
    lu.assertNil(set[u .. "-" .. v])
    set[u .. "-" .. v], n = true, n + 1
  end
  return set, n
end

function tests.test_split()
  for _, opts in ipairs{{}, {loops = true}, {directed = true}, {weights = true, loops = true},
    {directed = true, weights = true, loops = true}} do
    local whole = graph(opts)
    local edges = links.split(whole, {val = 0.1, test = 0.2, seed = 5})
    local dense, n = whole.adjacency:to_dense(), 0
    local all = set_of(edges)
    for v = 1, N do
      for u = 1, N do
        local is_example = dense:get(v, u) ~= 0 and u ~= v and (opts.directed or u < v)
        n = n + (is_example and 1 or 0)
        lu.assertEquals(all[u .. "-" .. v] or false, is_example)
      end
    end
    lu.assertEquals(#edges, n)
    lu.assertEquals({#edges.val, #edges.test}, {n // 10, n // 5})
    lu.assertEquals(#edges.train, n - n // 10 - n // 5)
    lu.assertEquals(sampling.concat{edges.train, edges.val, edges.test}:sort(), ladies.range(1, n))
    -- Propagation has the edges for training, as they were, and the self-loops.
    local hidden = set_of(edges, sampling.concat{edges.val, edges.test})
    local left = edges.graph.adjacency:to_dense()
    for v = 1, N do
      for u = 1, N do
        local key = (not opts.directed and u > v) and v .. "-" .. u or u .. "-" .. v
        lu.assertEquals(left:get(v, u), hidden[key] and u ~= v and 0 or dense:get(v, u))
      end
    end
  end
end

--- Parallel edges are one example, so that none is in two parts of the split, and of the sum of
-- their weights.
function tests.test_parallel_edges_are_one()
  local data = ladies.data.from_arrays{
    edges = {{1, 2}, {1, 2}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {4, 5}, {5, 6}},
    edge_types = {"a", "b", "c", "a", "a", "a", "b", "b"},
    edge_weights = {1, 2, 4, 8, 16, 32, 64, 128},
    features = ladies.ones(6, 2), labels = {1, 2, 1, 2, 1, 2}, directed = "keep",
  }
  lu.assertEquals(data.graph.n_edges, 8)
  local edges = links.split(data.graph, {val = 0.2, test = 0.2})
  local set, n = set_of(edges)
  lu.assertEquals(n, 5)
  lu.assertTrue(set["1-2"] and set["4-5"])
  lu.assertEquals(edges.graph.n_edges, 3)
  local weights, left = {[1] = 7, [2] = 8, [3] = 16, [4] = 96, [5] = 128}, edges.graph.adjacency
  for i = 1, n do lu.assertEquals(edges.weights[i], weights[edges.from[i]]) end
  for _, i in ipairs(edges.train:to_table()) do
    lu.assertEquals(left:to_dense():get(edges.to[i], edges.from[i]), edges.weights[i])
  end
end

function tests.test_split_by_seed()
  local whole = graph{}
  lu.assertEquals(links.split(whole).test, links.split(whole, {seed = 1}).test)
  lu.assertNotEquals(links.split(whole, {seed = 2}).test, links.split(whole).test)
  lu.assertNil(links.split(whole, {val = 0}).val)
  lu.assertErrorMsgContains("leave none for training", links.split, whole, {val = 0.6, test = 0.6})
  lu.assertEquals(tostring(links.split(graph{directed = true})):match "%w+$", "directed")
end

-- --- negatives ----------------------------------------------------------------------------------

local function is_edge(edges, positions)
  local known = edges:others("to", positions):to_dense()
  return function(u, v) return known:get(u, v) ~= 0 end
end

function tests.test_negatives_replace_an_end()
  for _, directed in ipairs{false, true} do
    for _, draw in ipairs{"uniform", "degree"} do
      for _, corrupt in ipairs{"both", "to", "from"} do
        for _, k in ipairs{1, 3} do
          local edges = links.split(graph{directed = directed, edges = 300})
          local draw_for = links.negatives(edges,
            {draw = draw, per_positive = k, corrupt = corrupt})
          local from, to = edges.from[edges.train], edges.to[edges.train]
          local a, b = draw_for(from, to, nil, ladies.rng(4))
          lu.assertEquals({#a, #b}, {k * #from, k * #from})
          local known = is_edge(edges, edges.train)
          local kept = {}
          for i = 1, #a do
            lu.assertFalse(known(a[i], b[i]))
            lu.assertNotEquals(a[i], b[i])
            kept["from" .. a[i]] = (kept["from" .. a[i]] or 0) + 1
            kept["to" .. b[i]] = (kept["to" .. b[i]] or 0) + 1
          end
          -- The end that stays is there as often as among the positives.
          local wanted = corrupt == "to" and {"from", from} or corrupt == "from" and {"to", to}
          if wanted then
            local counts = {}
            for _, v in ipairs(wanted[2]:to_table()) do counts[v] = (counts[v] or 0) + k end
            for v, count in pairs(counts) do lu.assertEquals(kept[wanted[1] .. v], count) end
          end
        end
      end
    end
  end
end

--- With corrupt = "both" one end and the other are replaced in turn: half of all negatives, and of
-- those of each positive, have its `from`, the others its `to`.
function tests.test_negatives_replace_both_ends_in_turn()
  local edges = links.split(graph{directed = true, edges = 300})
  local n = #edges.train - #edges.train % 2
  local at = edges.train:slice(1, n)
  for _, k in ipairs{1, 2, 3, 4} do
    local _, _, _, positives = links.negatives(edges, {per_positive = k})(edges.from[at],
      edges.to[at], nil, ladies.rng(4))
    local half = k * n // 2                   -- those whose `to` is drawn come first
    for side, first in ipairs{1, half + 1} do
      local counts = {}
      for i = 1, n do counts[i] = 0 end
      for _, i in ipairs(positives:slice(first, first + half - 1):to_table()) do
        counts[i] = counts[i] + 1
      end
      for i, count in ipairs(counts) do
        lu.assertEquals(count, (i % 2 == side % 2) and (k + 1) // 2 or k // 2)
      end
    end
  end
end

--- Edges for validation and test may be drawn, since who trains does not know them.
function tests.test_negatives_do_not_know_what_is_hidden()
  local edges = links.split(graph{edges = 300}, {val = 0.2, test = 0.3})
  local a, b = links.negatives(edges, {per_positive = 100})(edges.from[edges.train],
    edges.to[edges.train], nil, ladies.rng(1))
  local hidden, drawn = is_edge(edges, sampling.concat{edges.val, edges.test}), 0
  for i = 1, #a do drawn = drawn + (hidden(a[i], b[i]) and 1 or 0) end
  lu.assertTrue(drawn > 0)
  local all = links.negatives(edges, {per_positive = 100, positions = ladies.range(1, #edges)})
  a, b = all(edges.from, edges.to, nil, ladies.rng(1))
  for i = 1, #a do lu.assertFalse(hidden(a[i], b[i])) end
end

function tests.test_pairs_and_ones_own()
  local edges = links.split(graph{})
  local known = is_edge(edges, edges.train)
  local a, b = links.negatives(edges, {draw = "pairs", per_positive = 2})(index{1, 2, 3},
    index{4, 5, 6}, nil, ladies.rng(1))
  lu.assertEquals(#a, 6)
  for i = 1, 6 do lu.assertFalse(known(a[i], b[i])) end
  -- All pairs of five nodes, of which edges and self-loops are dropped.
  local every, rng = ladies.range(1, 25) - 1, ladies.rng(1)
  local own = links.negatives(edges, {draw = function(from, to, k, stream)
    lu.assertEquals({from[1], to[1], k}, {1, 2, 7})
    lu.assertTrue(rawequal(stream, rng))
    return every // 5 + 1, every % 5 + 1
  end, per_positive = 7})
  a, b = own(index{1}, index{2}, nil, rng)
  local left = 0
  for u = 1, 5 do
    for v = 1, 5 do left = left + (u ~= v and not known(u, v) and 1 or 0) end
  end
  lu.assertEquals(#a, left)
  for i = 1, #a do lu.assertFalse(known(a[i], b[i]) or a[i] == b[i]) end
end

function tests.test_what_ones_own_returns_is_checked()
  local edges = links.split(graph{})
  local function refused(text, ...)
    local pairs_of = table.pack(...)
    local own = links.negatives(edges, {draw = function() return table.unpack(pairs_of, 1, 4) end})
    lu.assertErrorMsgContains("ladies.links.negatives: what the function returns: " .. text, own,
      index{1, 2}, index{2, 3}, nil, ladies.rng(1))
  end
  refused("from[2] is 41, must be 1 to 40", index{1, 41}, index{2, 3})
  refused("to[1] is 0, must be 1 to 40", index{1, 2}, index{0, 3})
  refused("positives[2] is 3, must be 1 to 2", index{1, 2}, index{4, 3}, nil, index{1, 3})
  refused("2 and 1 ends do not make pairs", index{1, 2}, index{3})
end

function tests.test_distinct_negatives()
  for _, directed in ipairs{false, true} do
    local edges = links.split(graph{directed = directed, edges = 200})
    local known = is_edge(edges)
    local most = 0
    for u = 1, N do
      for v = 1, N do
        if u ~= v and (directed or u < v) and not known(u, v) then most = most + 1 end
      end
    end
    local a, b = links.distinct_negatives(edges, most, ladies.rng(1))
    local seen = {}
    for i = 1, #a do
      local u, v = a[i], b[i]
      if not directed and u > v then u, v = v, u end
      lu.assertFalse(known(u, v) or u == v or seen[u * 100 + v] ~= nil)
      seen[u * 100 + v] = true
    end
    lu.assertEquals(#a, most)
    lu.assertErrorMsgContains("are no edges", links.distinct_negatives, edges, most + 1,
      ladies.rng(1))
  end
end

-- --- left out -----------------------------------------------------------------------------------

-- The graph without some entries.
local function without(whole, rows, cols)
  local A = whole.adjacency
  local gone = ladies.matrix{n_rows = N, n_cols = N, rows = rows, cols = cols}
  return ladies.graph.new(A:pick_entries(1 - gone:has(A:row_of(), A:col_of())))
end

--- Whole neighbourhoods become those of the graph without the edges, to the places of all entries.
function tests.test_whole_blocks_are_those_of_the_graph_without_the_edges()
  for _, opts in ipairs{{}, {loops = true}, {weights = true}, {directed = true},
    {directed = true, weights = true, loops = true}} do
    for _, kind in ipairs{"sym", "row", "none"} do
      for _, self_loops in ipairs{true, false} do
        local whole = graph(opts)
        local edges = links.split(whole, {val = 0, test = 0})
        local some = ladies.index{1, 5, 9, 20, 33}
        local rows, cols = edges.to[some], edges.from[some]
        if edges.undirected then rows, cols = rows .. cols, cols .. rows end
        local P = whole:normalize(kind, {self_loops = self_loops})
        local seeds = sampling.unique(rows .. cols)
        local batch = ladies.samplers.full(P, {layers = 2})(seeds)
        local before = batch.blocks[2].adj.nnz
        local kept = batch.blocks[2].adj
        links.left_out(whole, batch, rows, cols)
        lu.assertEquals(kept.nnz, before)                  -- the sampler's own block is as it was
        local Q = without(whole, rows, cols):normalize(kind, {self_loops = self_loops})
        for _, block in ipairs(batch.blocks) do
          local expected = Q:slice(block.dst, block.src)
          lu.assertEquals(block.adj.nnz, expected.nnz)
          local off = (block.adj:to_dense() - expected:to_dense()):abs():max()
          lu.assertTrue(off < 1e-6, ("%s %s: off by %g"):format(kind, self_loops, off))
        end
        lu.assertEquals(sampling.check(batch), batch)
      end
    end
  end
end

--- Whatever a sampler draws, no block has an entry of these edges, and all others are there.
function tests.test_no_sampled_block_has_them()
  local whole = graph{edges = 200}
  local edges = links.split(whole, {val = 0, test = 0})
  local some = sampling.uniform(#edges, 30, {rng = ladies.rng(1)})
  local rows, cols = edges.to[some] .. edges.from[some], edges.from[some] .. edges.to[some]
  local gone = ladies.matrix{n_rows = N, n_cols = N, rows = rows, cols = cols}
  for name, make in pairs{ladies = {samples = {20, 20}}, graphsage = {samples = {4, 4}},
    labor = {samples = {4, 4}}, fastgcn = {samples = {20, 20}}, shadow = {layers = 2}} do
    local sampler = ladies.samplers[name](whole:normalize "sym", make)
    local dropped = 0
    for i = 1, 5 do
      local batch = sampler(sampling.unique(rows .. cols), ladies.rng(i))
      local blocks = batch.blocks
      links.left_out(whole, batch, rows, cols)
      for l, block in ipairs(blocks) do
        local now = batch.blocks[l]
        local function hits(of)
          return gone:has(block.dst[of.adj:row_of()], block.src[of.adj:col_of()]):sum():item()
        end
        lu.assertEquals(hits(now), 0, name)
        lu.assertEquals(now.adj.nnz, block.adj.nnz - hits(block), name)
        dropped = dropped + hits(block)
      end
    end
    lu.assertTrue(dropped > 0, name)
  end
end

function tests.test_pairs_that_are_no_edges_do_not_matter()
  local whole = graph{}
  local batch = ladies.samplers.full(whole:normalize "sym", {layers = 1})(ladies.range(1, N))
  local before = batch.blocks[1].adj
  local from, to = sampling.non_edges(whole.adjacency, 50, {rng = ladies.rng(1)})
  links.left_out(whole, batch, from, to)
  lu.assertTrue(batch.blocks[1].adj == before)
end

-- --- ranks --------------------------------------------------------------------------------------

-- The ranks by loops over all nodes.
local function plain_ranks(edges, positions, decoder, h, opts)
  local known, found = is_edge(edges), {}
  for _, which in ipairs(opts.ends == "both" and {"to", "from"} or {opts.ends}) do
    for _, at in ipairs(positions:to_table()) do
      local u, v = edges.from[at], edges.to[at]
      local function score(x)
        local a, b = which == "to" and u or x, which == "to" and x or v
        return decoder:forward(h:slice(a, a), h:slice(b, b)):item()
      end
      local fixed, own = u, v
      if which == "from" then fixed, own = v, u end
      local rank, target = 1, score(own)
      for x = 1, N do
        local is_known = which == "to" and known(u, x) or which == "from" and known(x, v)
        if x ~= own and (opts.loops or x ~= fixed) and not (opts.filtered and is_known) then
          local s = score(x)
          rank = rank + (math.abs(s - target) < 1e-6 and 0.5 or s > target and 1 or 0)
        end
      end
      found[#found + 1] = rank
    end
  end
  return found
end

function tests.test_ranks_among_all_nodes()
  local rng = ladies.rng(2)
  local h = ladies.zeros(N, 6):normal_(1, rng)
  h:slice(3, 3):copy_(h:slice(9, 9))                       -- ties
  for _, directed in ipairs{false, true} do
    local edges = links.split(graph{directed = directed}, {test = 0.3})
    for _, kind in ipairs{"dot", "distmult", "complex", "mlp"} do
      local decoder = ladies.nn.link_decoder{kind = kind, inputs = 6, rng = ladies.rng(1)}
      for _, opts in ipairs{{ends = "both", filtered = true, loops = false},
        {ends = "to", filtered = false, loops = false},
        {ends = "from", filtered = true, loops = true}} do
        local expected = plain_ranks(edges, edges.test, decoder, h, opts)
        lu.assertEquals(links.ranks(edges, edges.test, decoder, h, opts):to_table(), expected, kind)
      end
    end
  end
end

--- Triples: each relation has negatives and known edges of its own, a symmetric one both ways.
function tests.test_relations()
  local rng, list, types = ladies.rng(5), {}, {}
  for i = 1, 90 do
    local u, v = rng:below(N), rng:below(N)
    if u ~= v then
      list[#list + 1] = {u, v}
      types[#types + 1] = i % 3 == 0 and "same" or i % 2 == 0 and "a" or "b"
      if i % 3 == 0 then list[#list + 1], types[#types + 1] = {v, u}, "same" end
    end
  end
  local data = ladies.data.from_arrays{edges = list, edge_types = types,
    edge_type_names = {"same", "a", "b"}, features = ladies.ones(N, 1),
    labels = ladies.range(1, N):equals(0):to_index() + 1}
  local edges = links.split(data.graph, {edges = data.edges, relations = true, test = 0.3})
  lu.assertEquals({edges.n_relations, edges.both_ways}, {3, true})
  local known = {}
  for i, edge in ipairs(list) do known[table.concat({edge[1], types[i], edge[2]}, " ")] = true end
  local NAMES, distinct = data.edges.type_names, {}
  for i = 1, #edges do
    local u, name, v = edges.from[i], NAMES[edges.relations[i]], edges.to[i]
    lu.assertTrue(known[("%d %s %d"):format(u, name, v)])
    local key = name == "same" and u > v and ("%d %s %d"):format(v, name, u)
      or ("%d %s %d"):format(u, name, v)
    lu.assertNil(distinct[key])
    distinct[key] = true
  end
  local function is_known(u, relation, v)
    return known[("%d %s %d"):format(u, NAMES[relation], v)] == true
  end
  local all = links.negatives(edges, {per_positive = 5, positions = ladies.range(1, #edges)})
  local a, b, of = all(edges.from, edges.to, edges.relations, ladies.rng(1))
  lu.assertEquals(#of, 5 * #edges)
  for i = 1, #a do lu.assertFalse(is_known(a[i], of[i], b[i])) end
  -- A user's function returns every triple; those that are edges are removed from the negatives.
  local every = ladies.range(1, 3 * N * N) - 1
  local left = links.negatives(edges, {positions = ladies.range(1, #edges), loops = true,
    draw = function() return every % N + 1, every // N % N + 1, every // (N * N) + 1 end})
  a, b, of = left(edges.from, edges.to, edges.relations, ladies.rng(1))
  local n_known = 0
  for _ in pairs(known) do n_known = n_known + 1 end
  lu.assertEquals(#a, 3 * N * N - n_known)
  for i = 1, #a do lu.assertFalse(is_known(a[i], of[i], b[i])) end
  local h = ladies.zeros(N, 4):normal_(1, rng)
  local decoder = ladies.nn.link_decoder{kind = "complex", inputs = 4, relations = 3, rng = rng}
  local ranks = links.ranks(edges, edges.test, decoder, h, {loops = true}):to_table()
  for side = 0, 1 do
    for i, at in ipairs(edges.test:to_table()) do
      local u, r, v = edges.from[at], edges.relations[at], edges.to[at]
      local function score(x, y)
        return decoder:forward(h:slice(x, x), h:slice(y, y), index{r}):item()
      end
      local target, rank = score(u, v), 1
      for x = 1, N do
        local p, q = side == 0 and u or x, side == 0 and x or v
        if not is_known(p, r, q) and score(p, q) > target + 1e-6 then rank = rank + 1 end
      end
      lu.assertEquals(ranks[side * #edges.test + i], rank)
    end
  end
end

function tests.test_ranks_among_some_nodes()
  local edges = links.split(graph{directed = true}, {test = 0.3})
  local h = ladies.zeros(N, 4):normal_(1, ladies.rng(2))
  local decoder = ladies.nn.link_decoder{inputs = 4}
  local few = links.ranks(edges, edges.test, decoder, h, {candidates = 5})
  lu.assertEquals(#few, 2 * #edges.test)
  lu.assertTrue(few:max() <= 6 and few:min() >= 1)
  -- With many candidates the share of those above is that among all that make no edge.
  local many = links.ranks(edges, edges.test, decoder, h, {candidates = 4000})
  local all = links.ranks(edges, edges.test, decoder, h)
  local others = edges:others "to":row_sums()[edges.from[edges.test]]
  for i = 1, #edges.test do
    local share = (all[i] - 1) / (N - 1 - others[i])
    lu.assertAlmostEquals((many[i] - 1) / 4000, share, 0.05)
  end
  lu.assertTrue(links.ranks(edges, edges.test, decoder, h, {candidates = 5}) == few)
  lu.assertFalse(links.ranks(edges, edges.test, decoder, h, {candidates = 5, seed = 2}) == few)
end

--- A node with an edge to all others has nothing to be drawn for it, with types to all of one.
function tests.test_nothing_left_to_draw()
  local pairs_of, types = {}, {}
  for v = 1, N do
    types[v] = v % 2 + 1
    pairs_of[#pairs_of + 1] = v ~= 3 and {3, v} or nil
    pairs_of[#pairs_of + 1] = v % 2 == 0 and v ~= 3 and v ~= 8 and {8, v} or nil
  end
  local data = ladies.data.from_arrays{edges = pairs_of, features = ladies.ones(N, 1),
    directed = "keep"}
  local edges = links.split(data.graph, {test = 0.5})
  local decoder, h = ladies.nn.link_decoder{inputs = 4}, ladies.ones(N, 4)
  local of_8 = edges.from:equals(8):positions()
  for node, given in pairs{[2] = {candidates = 5, ends = "to"},
    [7] = {candidates = 5, ends = "to", node_types = index(types)}} do
    lu.assertErrorMsgContains(("links: node %d (from 0) has an edge to every node that could be "
      .. "drawn for its other end; candidates"):format(node), links.ranks, edges,
      node == 7 and of_8 or edges.test, decoder, h, given)
  end
  local draw = links.negatives(edges, {positions = ladies.range(1, #edges), corrupt = "to"})
  lu.assertErrorMsgContains("node 2 (from 0) has an edge", draw, index{8, 3}, index{2, 4}, nil,
    ladies.rng(1))
end

return tests
