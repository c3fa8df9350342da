// The parts of the LibTorch extension that need no LibTorch.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

#include "collectors/torch/forward_book.h"
#include "collectors/torch/hash.h"

namespace attnscope::libtorch {
namespace {

uint64_t hash_of(std::initializer_list<uint64_t> words) {
    Hash hash;
    for (const uint64_t word : words) hash.add(word);
    return hash.value();
}

uint64_t hash_of(std::string_view text) {
    Hash hash;
    hash.add(text);
    return hash.value();
}

TEST(TorchHash, TellsOrderLengthAndZerosApart) {
    std::set<uint64_t> seen;
    for (const auto& words : std::initializer_list<std::initializer_list<uint64_t>>{
             {}, {0}, {0, 0}, {1}, {1, 0}, {0, 1}, {1, 2}, {2, 1}, {1, 2, 0}, {~uint64_t{0}}})
        EXPECT_TRUE(seen.insert(hash_of(words)).second) << ::testing::PrintToString(words);
    for (const std::string& text :
         {std::string(), std::string(1, '\0'), std::string(2, '\0'), std::string("aten::mm"),
          std::string("aten::bmm"), std::string("aten::scaled_dot_product_attention"),
          std::string("aten::scaled_dot_product_attentioN"), std::string(16, 'a'), std::string(32, 'a'),
          std::string(33, 'a')})
        EXPECT_TRUE(seen.insert(hash_of(text)).second) << text;
}

// Shapes of real programs are small neighbouring numbers: the worst that a weak hash can be asked.
TEST(TorchHash, SmallNeighbouringNumbersDoNotCollide) {
    std::set<uint64_t> seen;
    for (uint64_t a = 0; a < 64; ++a)
        for (uint64_t b = 0; b < 64; ++b)
            for (uint64_t c = 0; c < 32; ++c) seen.insert(hash_of({a, b, c}));
    EXPECT_EQ(seen.size(), 64U * 64 * 32);
    EXPECT_EQ(seen.count(0), 0U) << "0 means a free slot";
}

struct Book : ::testing::Test {
    std::unique_ptr<ForwardBook> book = std::make_unique<ForwardBook>();
};

TEST_F(Book, KnowsWhatWasPutAndNothingElse) {
    EXPECT_EQ(book->get(1, 0), 0U);
    book->put(1, 0, 17);
    book->put(1, 1, 18);
    book->put(2, 0, 19);
    EXPECT_EQ(book->get(1, 0), 17U);
    EXPECT_EQ(book->get(1, 1), 18U);
    EXPECT_EQ(book->get(2, 0), 19U);
    EXPECT_EQ(book->get(2, 1), 0U);
    EXPECT_EQ(book->get(3, 0), 0U);
    book->put(1, 0, (1U << 17) - 1);  // the largest number of an operation
    EXPECT_EQ(book->get(1, 0), (1U << 17) - 1);
}

TEST_F(Book, ALaterCallReplacesAnEarlierOne) {
    book->put(7, 100, 1);  // scaled_dot_product_attention sees the number first,
    book->put(7, 100, 2);  // the operation inside that makes the node last
    EXPECT_EQ(book->get(7, 100), 2U);
}

// Of a long run the last half million nodes of a thread are known, and an old one is not mistaken for a new
// one.
TEST_F(Book, OldEntriesAreForgottenNeverConfused) {
    constexpr int64_t count = 3 << 19;
    for (int64_t i = 0; i < count; ++i) book->put(1, i, static_cast<uint32_t>(i % 1000 + 1));
    size_t known = 0;
    for (int64_t i = 0; i < count; ++i) {
        const uint32_t found = book->get(1, i);
        if (found == 0) continue;
        ++known;
        ASSERT_EQ(found, static_cast<uint32_t>(i % 1000 + 1)) << i;
    }
    EXPECT_EQ(known, 1U << 19);
}

}  // namespace
}  // namespace attnscope::libtorch
