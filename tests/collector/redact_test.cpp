// Right values: written by hand; DESIGN.md, law 6: secrets in command lines are never stored.
#include "attnscope/redact.h"

#include <gtest/gtest.h>

namespace attnscope {
namespace {

using Words = std::vector<std::string>;

TEST(Redact, SecretsByName) {
    EXPECT_EQ(redact_command({"run", "--hf-token", "abc", "--api-key=xyz", "--password", "p w", "-x"}),
              (Words{"run", "--hf-token", "***", "--api-key=***", "--password", "***", "-x"}));
    EXPECT_EQ(redact_command({"env", "HF_TOKEN=abc", "AWS_SECRET_ACCESS_KEY=a/b+c", "wandbApiKey=1"}),
              (Words{"env", "HF_TOKEN=***", "AWS_SECRET_ACCESS_KEY=***", "wandbApiKey=***"}));
    EXPECT_EQ(redact_command({"--token=with spaces inside"}), (Words{"--token=***"}));
}

TEST(Redact, WhatIsNoSecretStays) {
    const Words plain = {"python3",
                         "train.py",
                         "--max-tokens",
                         "512",
                         "--tokenizer",
                         "gpt2",
                         "--key-length=1024",
                         "--kv-heads",
                         "8",
                         "--num_tokens=4",
                         "LD_LIBRARY_PATH=/a:/b",
                         "x=1",
                         "http://host:80/path?q=1",
                         "--author=me",
                         "sk-short",
                         "--head-dim",
                         "64"};
    EXPECT_EQ(redact_command(plain), plain);
}

TEST(Redact, UrlsHeadersAndCode) {
    EXPECT_EQ(redact_command({"postgres://user:pw@host/db"}), Words{"postgres://***@host/db"});
    EXPECT_EQ(redact_command({"https://h/x?token=abc&n=1"}), Words{"https://h/x?token=***&n=1"});
    EXPECT_EQ(redact_command({"-H", "Authorization: Bearer abcdefgh12345"})[1], "Authorization: ***");
    EXPECT_EQ(redact_command({"-c", "login(token='abc', n=3)"})[1], "login(token='***', n=3)");
    EXPECT_EQ(redact_command({R"({"api_key": "abc", "n": 1})"})[0], R"({"api_key": "***", "n": 1})");
}

TEST(Redact, TokensByTheirForm) {
    EXPECT_EQ(redact_command({"login", "hf_abcdefghijklmnopqrstuvwxyz0123"})[1], "***");
    EXPECT_EQ(redact_command({"x", "ghp_0123456789abcdefghijABCDEFGHIJ012345"})[1], "***");
}

TEST(Redact, AnyArgumentsAreSurvived) {
    EXPECT_EQ(redact_command({}), Words{});
    EXPECT_EQ(
        redact_command({"", "-", "--", "=", "--token", "", "token='unclosed\\", "://@", "password="}).size(),
        9u);
    EXPECT_EQ(redact_command({"--token"}), Words{"--token"});
    EXPECT_EQ(redact_command({"--token", "--next"}), (Words{"--token", "--next"}));
}

}  // namespace
}  // namespace attnscope
