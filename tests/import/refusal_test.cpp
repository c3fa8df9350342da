// What is no profiler's file is named, with the way to what can be read; nothing is written.
#include <gtest/gtest.h>

#include "attnscope/error.h"
#include "attnscope/import.h"
#include "samples.h"
#include "trace.h"

namespace attnscope::test {
namespace {

bool says(const std::string& sentence, const std::string& part) {
    return sentence.find(part) != std::string::npos;
}

TEST(Refusal, LookAlikesAreNamed) {
    const std::pair<std::string, const char*> known[] = {
        {"", "the file is empty"},
        {"version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 5\n", "this is a Git LFS pointer"},
        {"QDSTRM....", "nsys export --type sqlite"},
        {"PK\x03\x04zip", "a zip archive"},
        {"==ERROR== Option '--section x' did not match any section.\n", "it profiled no kernel"},
        {"hello from the program\n==ERROR== The application returned an error code.\n",
         "it profiled no kernel"},
        {"Metric Name,dram__bytes.sum\r\n0,4194688.0\r\n", "a derived table, not Nsight Compute's CSV"},
        {"{\"type\":\"process\",\"schema\":\"attnscope-run\"}\n", "attnscope report RUN"},
        {"{\"some\": \"json\"}", "JSON, but no PyTorch profiler trace"},
        {"<!DOCTYPE html><html>", "a web page"},
        {"just words\n", "a text of no known kind"},
        {std::string("\x7f"
                     "ELF\0\0",
                     6),
         "a file of no known kind"},
        {"{\"schemaVersion\": 1, \"deviceProperties\": []}", "holds no traceEvents"},
        {"{\"traceEvents\": []}", "holds no event"},
        {"\"ID\",\"Process ID\",\"Metric Name\",\"Metric Value\"\n", "holds no kernel"},
        {"SQLite format 3", "of no known kind"},
        {std::string("SQLite format 3\0damaged", 23), "a damaged SQLite database"},
    };
    for (const auto& [bytes, part] : known) {
        SCOPED_TRACE(part);
        const std::string sentence = refusal(bytes, "file");
        EXPECT_TRUE(says(sentence, part)) << sentence;
        EXPECT_TRUE(says(sentence, "file: ")) << "names the file: " << sentence;
    }
}

TEST(Refusal, ReportsOfNsightSystemsByTheirName) {
    EXPECT_TRUE(says(refusal(std::string("\x01\0binary", 8), "a.nsys-rep"), "nsys export --type sqlite"));
}

TEST(Refusal, FoldersAndFilesThatAreNotThere) {
    TemporaryFolder folder;
    EXPECT_THROW(import_files({folder.path()}), Error);
    EXPECT_THROW(import_files({folder.path() / "absent"}), Error);
    EXPECT_THROW(open_run(folder.path() / "absent"), Error);
}

TEST(Refusal, RealLookAlikes) {
    const auto folder = samples();
    if (!folder) GTEST_SKIP() << kNoSamples;
    const std::pair<const char*, const char*> known[] = {
        {"ncu/empty.ncu-rep", "the file is empty"},
        {"ncu/not-ncu-pivot-crlf.csv", "a derived table, not Nsight Compute's CSV"},
        {"ncu/only-error-lines.csv", "it profiled no kernel"},
    };
    for (const auto& [file, part] : known) {
        try {
            import_files({*folder / file});
            ADD_FAILURE() << file << " was imported";
        } catch (const Error& e) {
            EXPECT_TRUE(says(e.what(), part)) << e.what();
        }
    }
}

TEST(Written, ARunIsNotOverwrittenUnasked) {
    TemporaryFolder folder;
    const attnscope::Run run = import_bytes(trace({flash_kernel(1)}));
    const auto target = folder.path() / "new" / "run";
    write_imported_run(run, target, false);
    EXPECT_EQ(read_run(target).processes.size(), 1U);
    EXPECT_THROW(write_imported_run(run, target, false), Error);
    write_imported_run(run, target, true);
    std::filesystem::create_directory(folder.path() / "mine");
    write(folder.path() / "mine" / "notes.txt", "keep");
    EXPECT_THROW(write_imported_run(run, folder.path() / "mine", true), Error) << "not a run: never replaced";
    EXPECT_EQ(read(folder.path() / "mine" / "notes.txt"), "keep");
}

TEST(Written, SeveralFilesAreOneRun) {
    TemporaryFolder folder;
    write(folder.path() / "a.json", trace({flash_kernel(1)}, h100(), R"(, "distributedInfo": {"rank": 1})"));
    write(folder.path() / "b.json", trace({flash_kernel(1)}, h100(), R"(, "distributedInfo": {"rank": 0})"));
    const attnscope::Run run = import_files({folder.path() / "a.json", folder.path() / "b.json"});
    ASSERT_EQ(run.processes.size(), 2U);
    EXPECT_EQ(run.processes[0].rank, 0U);
    EXPECT_EQ(run.imported.size(), 2U);
    const attnscope::Run direct = open_run(folder.path() / "a.json");
    EXPECT_EQ(direct.processes.size(), 1U);
}

}  // namespace
}  // namespace attnscope::test
