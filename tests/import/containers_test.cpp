// Traces in gzip, zstd, tar and combinations; cut, damaged, and made to grow without measure.
#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include "attnscope/error.h"
#include "attnscope/import.h"
#include "trace.h"

namespace attnscope::test {
namespace {

std::string gzip(const std::string& bytes, int level = 6) {
    z_stream stream{};
    EXPECT_EQ(deflateInit2(&stream, level, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    std::string out(deflateBound(&stream, bytes.size()) + 64, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

std::string zstd(const std::string& bytes) {
    std::string out(ZSTD_compressBound(bytes.size()), '\0');
    out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3));
    return out;
}

std::string tar_member(const std::string& name, const std::string& bytes) {
    std::string header(512, '\0');
    header.replace(0, name.size(), name);
    char size[13];
    std::snprintf(size, sizeof size, "%011zo", bytes.size());
    header.replace(124, 11, size);
    header.replace(257, 5, "ustar");
    header[156] = '0';
    header.replace(148, 8, 8, ' ');
    unsigned sum = 0;
    for (const char c : header) sum += static_cast<unsigned char>(c);
    char text[9];
    std::snprintf(text, sizeof text, "%06o", sum);
    header.replace(148, 6, text);
    header[154] = '\0';
    return header + bytes + std::string((512 - bytes.size() % 512) % 512, '\0');
}

std::string one(uint64_t correlation) {
    return trace({flash_kernel(correlation), flash_kernel(correlation + 1)});
}

size_t launches(const attnscope::Run& run) {
    size_t n = 0;
    for (const Process& p : run.processes) n += p.launches.size();
    return n;
}

TEST(Containers, EveryWrappingHoldsTheSame) {
    const std::string end(1024, '\0');
    const std::string tar =
        tar_member("folder/rank0.json", one(1)) + tar_member("folder/rank1.json", one(5)) + end;
    EXPECT_EQ(launches(import_bytes(gzip(one(1)))), 2U);
    EXPECT_EQ(launches(import_bytes(zstd(one(1)))), 2U);
    EXPECT_EQ(launches(import_bytes(gzip(zstd(one(1))))), 2U);
    const attnscope::Run both = import_bytes(gzip(tar), "traces.tar.gz");
    EXPECT_EQ(launches(both), 4U);
    ASSERT_EQ(both.processes.size(), 2U);
    EXPECT_EQ(both.processes[0].file, "rank0.jsonl");
    const attnscope::Run nested =
        import_bytes(tar_member("a.json.gz", gzip(one(1))) + tar_member("notes.txt", "words") + end);
    EXPECT_EQ(launches(nested), 2U);
    ASSERT_TRUE(diagnostic(nested, "import-member-skipped")) << "what is left out is told";
}

TEST(Containers, GzipOfSeveralMembersAndPadding) {
    const std::string text = one(1);
    const std::string split = gzip(text.substr(0, 100)) + gzip(text.substr(100)) + std::string(64, '\0');
    const attnscope::Run run = import_bytes(split);
    EXPECT_EQ(launches(run), 2U);
    EXPECT_FALSE(diagnostic(run, "import-cut-short"));
}

TEST(Containers, CutAndDamagedStreamsKeepWhatCame) {
    std::vector<std::string> events;
    for (uint64_t i = 0; i < 5000; ++i) events.push_back(flash_kernel(i + 1, std::to_string(i * 37 % 9973)));
    const std::string text = trace(events);
    for (const std::string& packed : {gzip(text), zstd(text)}) {
        const attnscope::Run cut = import_bytes(packed.substr(0, packed.size() * 3 / 4));
        EXPECT_GT(launches(cut), 1000U);
        EXPECT_LT(launches(cut), 5000U);
        ASSERT_TRUE(diagnostic(cut, "import-cut-short"));
        EXPECT_NE(diagnostic(cut, "import-cut-short")->message.find("stream is cut short"),
                  std::string::npos);
    }
    std::string damaged = gzip(text, 0);  // stored: damage inside does not spread
    damaged.replace(damaged.size() / 2, 4, "\xff\xff\xff\xff");
    EXPECT_GT(launches(import_bytes(damaged)), 4990U);
}

TEST(Containers, ABombIsNoTrace) {
    std::string bomb = "{\"traceEvents\": [";
    bomb.append(size_t{160} << 20, ' ');
    const std::string packed = gzip(bomb, 9);
    ASSERT_LT(packed.size(), size_t{200} << 10);
    const std::string sentence = refusal(packed);
    EXPECT_NE(sentence.find("decompression bomb"), std::string::npos) << sentence;
}

TEST(Containers, ABombInABombIsNoTrace) {
    // Each layer alone grows to 64 MiB, which is free; together they are a thousand times what the file has.
    const std::string inner = gzip("{\"traceEvents\": [" + std::string(size_t{66} << 20, ' '), 9);
    std::string many;
    for (int i = 0; i < 4; ++i) many += inner;
    const std::string packed = gzip(many, 9);
    ASSERT_LT(packed.size(), size_t{100} << 10);
    EXPECT_NE(refusal(packed).find("decompression bomb"), std::string::npos);
}

TEST(Containers, WrappedWithoutEndIsRefused) {
    std::string text = one(1);
    for (int i = 0; i < 8; ++i) text = gzip(text);
    EXPECT_NE(refusal(text).find("wrapped more than"), std::string::npos);
    EXPECT_FALSE(refusal(gzip("")).empty());
    EXPECT_FALSE(refusal("\x1f\x8b\x08").empty());
    EXPECT_FALSE(refusal("\x28\xb5\x2f\xfd").empty());
    EXPECT_NE(refusal(tar_member("notes.txt", "words") + std::string(1024, '\0')).find("nothing to import"),
              std::string::npos);
}

}  // namespace
}  // namespace attnscope::test
