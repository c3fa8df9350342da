// Nsight Systems' SQLite export: what a database holds is made here, table by table.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "attnscope/error.h"
#include "attnscope/import.h"
#include "samples.h"
#include "trace.h"

namespace attnscope::test {
namespace {

/// The bytes of a database that these statements make.
std::string database(const std::string& statements) {
    TemporaryFolder folder;
    const auto file = folder.path() / "made.sqlite";
    sqlite3* db = nullptr;
    EXPECT_EQ(sqlite3_open(file.c_str(), &db), SQLITE_OK);
    char* error = nullptr;
    EXPECT_EQ(sqlite3_exec(db, statements.c_str(), nullptr, nullptr, &error), SQLITE_OK) << error;
    sqlite3_close(db);
    return read(file);
}

constexpr const char* kStrings =
    "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
    "INSERT INTO StringIds VALUES (1,'flash_fwd'),(2,'void flash_fwd<128>(Params)'),(3,'step');";

TEST(NsightSystems, AFewColumnsAreEnough) {
    const attnscope::Run run = import_bytes(
        database(
            std::string(kStrings) +
            "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (end INT, start INT, shortName INT, correlationId INT);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1000, 0, 1, 5), (3000, 2000, 1, 6);"),
        "few.sqlite");
    ASSERT_EQ(run.processes.size(), 1U);
    const Process& p = run.processes[0];
    ASSERT_EQ(p.launches.size(), 2U);
    EXPECT_EQ(p.names.at(p.launches[0].name), "flash_fwd");
    EXPECT_EQ(p.launches[0].start_ns, 1U) << "0 is \"not collected\" in a run: all is moved by 1";
    EXPECT_EQ(p.launches[0].end_ns, 1001U);
    EXPECT_FALSE(p.launches[0].registers || p.launches[0].has_grid);
}

TEST(NsightSystems, EveryColumnThatCounts) {
    const uint64_t pid = 77, process = pid << 24, thread = process | 78;
    const std::string g = std::to_string(process), t = std::to_string(thread);
    const attnscope::Run run = import_bytes(
        database(
            std::string(kStrings) +
            "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, correlationId, "
            "globalPid, "
            "demangledName, shortName, registersPerThread, gridX, gridY, gridZ, blockX, blockY, blockZ, "
            "staticSharedMemory, dynamicSharedMemory, localMemoryPerThread, graphNodeId, clusterX, clusterY, "
            "clusterZ, somethingNew);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100, 400, 0, 7, 9, " +
            g +
            ", 2, 1, 168, 8, 8, 16, 128, 1, 1, 16, 81920, 0, NULL, 2, 1, 1, 'x');"
            "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, streamId, correlationId, "
            "globalPid, "
            "bytes, copyKind);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (10, 20, 0, 7, 8, " +
            g +
            ", 640, 1);"
            "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start, end, deviceId, streamId, correlationId, "
            "globalPid, "
            "bytes, value);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (30, 20, 0, 7, 10, " +
            g +
            ", 64, 0);"
            "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, correlationId, globalTid);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (50, 60, 9, " +
            t +
            ");"
            "CREATE TABLE NVTX_EVENTS (start, end, eventType, text, textId, globalTid);"
            "INSERT INTO NVTX_EVENTS VALUES (40, 90, 59, NULL, 3, " +
            t +
            "), (45, 80, 59, 'aten::mul, seq = 4, "
            "op_id = 9', NULL, " +
            t +
            ");"
            "CREATE TABLE TARGET_INFO_GPU (id, name, smCount, uuid, computeMajor, computeMinor, "
            "memoryBandwidth, maxWarpsPerSm, threadsPerWarp);"
            "INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA H100 80GB HBM3', 132, "
            "'554A6988-03dd-6206-3dd1-f43fb60a3ed0', 9, 0, 3352000000000, 64, 32);"),
        "all.sqlite");
    ASSERT_EQ(run.processes.size(), 1U);
    const Process& p = run.processes[0];
    EXPECT_EQ(p.pid, pid);
    ASSERT_EQ(p.launches.size(), 3U);
    const Launch& copy = p.launches[0];
    EXPECT_EQ(copy.kind, LaunchKind::memcpy);
    EXPECT_EQ(p.copy_kinds.at(copy.copy_kind), "HtoD");
    EXPECT_EQ(copy.bytes, 640U);
    const Launch& l = p.launches[1];
    EXPECT_EQ(p.names.at(l.name), "void flash_fwd<128>(Params)") << "the name with its arguments";
    EXPECT_EQ(l.registers, 168U);
    EXPECT_EQ(l.static_shared, 16U);
    EXPECT_EQ(l.dynamic_shared, 81920U);
    EXPECT_EQ(l.grid, (Dim3{8, 8, 16}));
    EXPECT_TRUE(l.has_cluster);
    EXPECT_EQ(p.ranges.at(l.range).name, "step");
    EXPECT_EQ(p.operations.at(l.operation).name, "aten::mul") << "emit_nvtx's ranges are operations";
    EXPECT_FALSE(p.launches[2].start_ns) << "it ends before it begins";
    EXPECT_TRUE(diagnostic(run, "import-negative-duration"));
    ASSERT_EQ(p.devices.size(), 1U);
    EXPECT_EQ(p.devices[0].uuid, "GPU-554a6988-03dd-6206-3dd1-f43fb60a3ed0");
    EXPECT_EQ(p.devices[0].max_threads_per_sm, 2048U);
    EXPECT_EQ(p.devices[0].dram_bytes_per_second, 3352000000000U);
    EXPECT_EQ(p.devices[0].max_ctas_per_sm, 32U) << "from the GPU table";
}

TEST(NsightSystems, NoKernelsAndOtherDatabases) {
    const attnscope::Run run =
        import_bytes(database("CREATE TABLE META_DATA_EXPORT (name, value);"), "none.sqlite");
    EXPECT_TRUE(diagnostic(run, "import-no-kernels"));
    const attnscope::Run lost =
        import_bytes(database("CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, correlationId, globalTid);"
                              "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, 3);"),
                     "lost.sqlite");
    EXPECT_TRUE(diagnostic(lost, "import-device-side-lost"));
    EXPECT_NE(
        refusal(database("CREATE TABLE people (name);"), "other.sqlite").find("no Nsight Systems export"),
        std::string::npos);
}

TEST(NsightSystems, NothingInTheFileIsRun) {
    // A view that never ends, under the name of a table that is read.
    const attnscope::Run run = import_bytes(
        database(
            "CREATE TABLE META_DATA_EXPORT (name, value);"
            "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE n(start) AS (SELECT 1 UNION ALL SELECT "
            "start + 1 FROM n) SELECT start, start AS end, 0 AS deviceId FROM n;"),
        "view.sqlite");
    EXPECT_TRUE(run.processes.at(0).launches.empty());
}

TEST(NsightSystems, ADamagedDatabaseIsToldOrRefused) {
    std::string rows;
    for (int i = 0; i < 3000; ++i) rows += (i ? "," : "") + std::string("(1, 2, 1, 5)");
    std::string bytes =
        database(std::string(kStrings) +
                 "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (end INT, start INT, shortName INT, "
                 "correlationId INT); INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES " +
                 rows);
    for (size_t at = 4096; at < bytes.size(); at += 4096) bytes.replace(at, 16, 16, '\xee');
    try {
        const attnscope::Run run = import_bytes(bytes, "damaged.sqlite");
        EXPECT_TRUE(diagnostic(run, "import-damaged"));
    } catch (const Error& e) {
        EXPECT_EQ(e.exit(), Exit::bad_input);
    }
}

/// A page of a B-tree that is no leaf: `children` times the same child. Format: sqlite.org/fileformat2.html.
std::string interior(uint32_t child, int children) {
    std::string page(512, '\0');
    const auto put = [&](size_t at, uint32_t value, int bytes) {
        for (int i = 0; i < bytes; ++i)
            page[at + static_cast<size_t>(i)] = static_cast<char>(value >> 8 * (bytes - 1 - i));
    };
    page[0] = 5;
    put(3, static_cast<uint32_t>(children), 2);
    put(8, child, 4);  // the rightmost one
    size_t cell = page.size();
    for (int i = 0; i < children; ++i) {
        cell -= 5;  // a child, and a key of one byte
        put(cell, child, 4);
        page[cell + 4] = static_cast<char>(i + 1);
        put(12 + 2 * static_cast<size_t>(i), static_cast<uint32_t>(cell), 2);
    }
    put(5, static_cast<uint32_t>(cell), 2);
    return page;
}

TEST(NsightSystems, ATableThatLeadsInCirclesEnds) {
    const std::string columns = " (start, end, shortName, correlationId);";
    std::string bytes =
        database("PRAGMA page_size = 512; CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL" + columns +
                 "CREATE TABLE second" + columns + "CREATE TABLE third" + columns + "CREATE TABLE leaf" +
                 columns + "INSERT INTO leaf VALUES (1, 2, NULL, 3), (4, 5, NULL, 6);");
    ASSERT_EQ(bytes.size(), 5U * 512) << "a page each, after the schema's";
    for (uint32_t page = 2; page < 5; ++page) bytes.replace((page - 1) * 512, 512, interior(page + 1, 60));
    const attnscope::Run run = import_bytes(bytes, "circles.sqlite");  // 61 x 61 x 61 x 2 rows
    ASSERT_TRUE(diagnostic(run, "import-damaged"));
    EXPECT_NE(diagnostic(run, "import-damaged")->message.find("more rows than the file has bytes"),
              std::string::npos)
        << diagnostic(run, "import-damaged")->message;
    EXPECT_LE(run.processes.at(0).launches.size(), bytes.size());
}

TEST(NsightSystems, CutAnywhereItLoadsOrIsRefused) {
    std::string rows = "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, shortName, correlationId);";
    for (int i = 1; i < 60; ++i)
        rows += "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (" + std::to_string(i) + ", " +
                std::to_string(i + 1) + ", 1, " + std::to_string(i) + ");";
    const std::string whole = database("PRAGMA page_size = 512;" + std::string(kStrings) + rows);
    size_t told = 0, refused = 0;
    for (size_t length = 16; length < whole.size(); length += 61) {
        try {
            const attnscope::Run run = import_bytes(whole.substr(0, length), "cut.sqlite");
            const bool all = run.processes.at(0).launches.size() == 59;
            EXPECT_TRUE(all || diagnostic(run, "import-damaged") || diagnostic(run, "import-no-kernels"))
                << length;
            ++told;
        } catch (const Error& e) {
            EXPECT_EQ(e.exit(), Exit::bad_input);
            ++refused;
        }
    }
    EXPECT_GT(told + refused, 20U);
    EXPECT_GT(refused, 0U);
}

TEST(NsysStats, CsvAndTextAreSummaries) {
    const attnscope::Run csv = import_bytes(
        "Time (%),Total Time (ns),Instances,Avg (ns),Name\n"
        "60.0,600,3,200,plain_kernel\n"
        "40.0,400,2,200,\"templated<int, (bool)1>(T1)\"\n\n"
        "Time (%),Total Time (ns),Count,Avg (ns),Operation\n100.0,70,2,35,[CUDA memcpy Host-to-Device]\n",
        "sum.csv");
    const Facts facts = facts_of(csv);
    EXPECT_EQ(facts.kernels, 5U);
    EXPECT_EQ(facts.unique_names, 2U);
    EXPECT_EQ(facts.memcpys, 2U);
    EXPECT_NEAR(facts.kernel_time_us, 1.0, 1e-9);
    EXPECT_EQ(csv.processes.at(0).names.at(1), "templated<int, (bool)1>(T1)");
    EXPECT_TRUE(diagnostic(csv, "import-summary"));
    const attnscope::Run text = import_bytes(
        "[5/8] Executing 'cuda_api_sum' stats report\n\n"
        " Time (%)  Total Time (ns)  Num Calls  Name      \n"
        " --------  ---------------  ---------  ----------\n"
        "    100.0            9,999          1  cudaMalloc\n\n"
        "[6/8] Executing 'cuda_gpu_kern_sum' stats report\n\n"
        " Time (%)  Total Time (ns)  Instances  Name                 \n"
        " --------  ---------------  ---------  ---------------------\n"
        "    100.0       27,869,780      1,024  flash_kernel(float *)\n",
        "stats.txt");
    EXPECT_EQ(facts_of(text).kernels, 1024U);
    EXPECT_NEAR(facts_of(text).kernel_time_us, 27869.78, 1e-6);
    EXPECT_NE(
        refusal(" Time (%)  Total Time (ns)  Num Calls  Name\n --------  ---------------  ---------  ----\n"
                "    100.0            9,999          1  poll\n")
            .find("without a table of kernels"),
        std::string::npos);
}

TEST(NsysStats, RealFiles) {
    const auto folder = samples();
    if (!folder) GTEST_SKIP() << kNoSamples;
    const attnscope::Run csv = import_files({*folder / "nsys/kern-sum.csv"});
    const Process& p = csv.processes.at(0);
    EXPECT_EQ(p.launches.at(0).times, 329035U);
    EXPECT_EQ(*p.launches.at(0).end_ns - *p.launches.at(0).start_ns, 1231822285U);
    EXPECT_EQ(
        p.names.at(p.launches.at(2).name),
        "void "
        "cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_tn_align8>(T1::Params)");
    const attnscope::Run text = import_files({*folder / "nsys/stats-text-tables.txt"});
    const Facts facts = facts_of(text);
    EXPECT_EQ(facts.kernels, 1U);
    EXPECT_NEAR(facts.kernel_time_us, 27869.78, 1e-6);
    EXPECT_GE(facts.memcpys, 4U);
}

}  // namespace
}  // namespace attnscope::test
