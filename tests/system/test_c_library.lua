--- The core as a C library: what is installed compiles, links and runs in a program without Lua.

local lu = require "luaunit"
local ladies = require "ladies"
local files = require "tools.files"
local shell = require "tools.shell"

local build = shell.ladies:match "^(.*)/bin/[^/]*$"
local source = os.getenv "LADIES_SOURCE"
local build_type = os.getenv "LADIES_BUILD_TYPE"

-- A program that uses a library with sanitizers has them too.
local sanitize = build_type == "asan" and "-fsanitize=address,undefined"
  or build_type == "tsan" and "-fsanitize=thread" or "-g0"

local tests = {}
local run = shell.must
local scratch = shell.folder()
local prefix, moved = scratch.path .. "/first", scratch.path .. "/second"

run{"cmake", "--install", build, "--prefix", prefix}
run{"mv", prefix, moved}

local function pkg_config(...)
  return run({"pkg-config", ...}, {env = {"PKG_CONFIG_PATH=" .. moved .. "/lib/pkgconfig"}})
end

-- Compiles a C file against what is installed, as strict C11 and with every warning an error.
local function compile(path)
  local out = scratch.path .. "/program"
  local argv = {"cc", "-std=c11", "-O1", "-Wall", "-Wextra", "-pedantic", "-Werror", sanitize,
    path, "-o", out}
  local flags = shell.words(pkg_config("--cflags", "--libs", "ladies", "openblas"))
  run(table.move(flags, 1, #flags, #argv + 1,
    argv))
  return out
end

local function start(program, env)
  local path = "LD_LIBRARY_PATH=" .. moved .. "/lib"
  return shell.run({program}, {env = {path, table.unpack(env or {})}})
end

local function compile_text(text)
  local path = scratch.path .. "/program.c"
  files.write(path, text)
  return compile(path)
end

-- Checks what the program of doc/c prints: losses, and an accuracy far above that of a guess.
local function check_training(program)
  local out = shell.succeeded(start(program))
  lu.assertEquals(select(2, out:gsub("step %d+: loss %d+%.%d+\n", "")), 3, out)
  lu.assertTrue(tonumber(out:match "accuracy (%S+)") > 0.9, out)
  return out
end

function tests.test_program_by_pkg_config()
  local program = compile(source .. "/doc/c/train.c")
  lu.assertEquals(check_training(program), check_training(program))
  lu.assertNotStrContains(run{"readelf", "-d", program}, "lua")
  local _, err, status = start(program, {"LADIES_ISA=mmx"})
  lu.assertEquals(status, 1)
  lu.assertEquals(err, "train: vector units: mmx is none of amx, avx512, avx2 and sse2\n")
end

function tests.test_program_by_cmake()
  local folder = scratch.path .. "/build"
  run{"cmake", "-S", source .. "/doc/c", "-B", folder, "-DCMAKE_PREFIX_PATH=" .. moved,
    "-DCMAKE_C_FLAGS=" .. sanitize}
  run{"cmake", "--build", folder}
  check_training(folder .. "/train")
  lu.assertStrContains(files.read(folder .. "/CMakeCache.txt"), moved .. "/lib/cmake/ladies")
end

--- The version has one place; the library says the one that it was made with.
function tests.test_version()
  local program = compile_text [[
    #include <ladies.h>
    #include <stdio.h>
    #if !LD_VERSION_AT_LEAST(LD_VERSION_MAJOR, LD_VERSION_MINOR, LD_VERSION_PATCH)
    #error older than itself
    #endif
    #if LD_VERSION_AT_LEAST(LD_VERSION_MAJOR, LD_VERSION_MINOR, LD_VERSION_PATCH + 1)
    #error later than itself
    #endif
    int main(void) { puts(LD_VERSION); puts(ld_version()); return 0; }
  ]]
  lu.assertEquals(start(program), ladies.version .. "\n" .. ladies.version .. "\n")
  lu.assertEquals(pkg_config("--modversion", "ladies"), ladies.version .. "\n")
  local soname = "libladies.so." .. ladies.version:match "^%d+%.%d+"
  lu.assertStrContains(run{"readelf", "-d", moved .. "/lib/libladies.so"}, "[" .. soname .. "]")
end

--- Two threads of OpenBLAS would give other bits than one.
function tests.test_init()
  local program = compile_text [[
    #include <cblas.h>
    #include <ladies.h>
    int main(void)
    {
        openblas_set_num_threads(2);
        if (ld_init() != LD_OK || ld_init() != LD_OK)
            return 1;
        return openblas_get_num_threads() == 1 ? 0 : 2;
    }
  ]]
  shell.succeeded(start(program))
end

--- Products of bfloat16 work from C, by what ladies.h declares.
function tests.test_bfloat16()
  local program = compile_text [[
    #include <ladies.h>
    #include <stdio.h>
    int main(void)
    {
        ld_tensor *a = NULL, *b = NULL, *c = NULL;
        ld_status st;
        LD_TRY(ld_init());
        LD_TRY(ld_tensor_full(&a, 2, 1, 1, 1.00390625f)); /* half way from 1 to the next number */
        LD_TRY(ld_tensor_full(&b, 2, 1, 1, 1.0f));
        LD_TRY(ld_tensor_new(&c, 2, 1, 1));
        ld_matmul_in_bfloat16(ld_bfloat16_units() != NULL);
        LD_TRY(ld_matmul(c, a, false, b, false, false));
        printf("%s %.8f\n", ld_bfloat16_units() ? ld_bfloat16_units() : "nil", c->data[0]);
    done:
        ld_tensor_unref(a);
        ld_tensor_unref(b);
        ld_tensor_unref(c);
        return st == LD_OK ? 0 : 1;
    }
  ]]
  local units = ladies.bfloat16_units()
  lu.assertEquals(start(program),
    ("%s %s\n"):format(units, units and "1.00000000" or "1.00390625"))
end

--- A program that is compiled against the library needs no headers of the libraries that it is made
-- of.
function tests.test_headers_are_enough()
  local included = run{"cc", "-M", "-I" .. moved .. "/include/ladies", source .. "/doc/c/train.c"}
  lu.assertStrContains(included, moved .. "/include/ladies/io/archive/zip.h")
  for _, name in ipairs{"zlib", "minizip", "cblas", "metis"} do
    lu.assertNotStrContains(included, "/" .. name)
  end
end

-- The names that an ELF file gives to others.
local function exported(path)
  local names = {}
  for name in run{"nm", "-D", "--defined-only", path}:gmatch " %a ([%w_]+)" do
    names[#names + 1] = name
  end
  return names
end

function tests.test_what_is_exported()
  lu.assertEquals(exported(moved .. "/lib/lua/5.4/ladies_core.so"), {"luaopen_ladies_core"})
  local seen = {}
  for _, name in ipairs(exported(moved .. "/lib/libladies.so")) do
    lu.assertEquals(name:sub(1, 3), "ld_", name)
    seen[name] = true
  end
  lu.assertTrue(seen.ld_init and seen.ld_op_spmm and seen.ld_optimizer_step)
end

-- Installs, and moves what was installed, as whoever unpacks a package does.

return tests, function() local _ <close> = scratch end
