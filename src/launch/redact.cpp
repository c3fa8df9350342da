#include "attnscope/redact.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace attnscope {
namespace {

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0;
}
bool is_name(char c) {
    return is_word(c) || c == '_' || c == '-' || c == '.';
}

/// "--hf-token" -> hf, token; "apiKey" -> api, key; "AWS_SECRET" -> aws, secret.
std::vector<std::string> words_of(std::string_view name) {
    std::vector<std::string> words(1);
    char before = '_';
    for (const char c : name) {
        const bool hump = std::isupper(static_cast<unsigned char>(c)) != 0 &&
                          std::islower(static_cast<unsigned char>(before)) != 0;
        if ((!is_word(c) || hump) && !words.back().empty()) words.emplace_back();
        if (is_word(c))
            words.back().push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
        before = c;
    }
    if (words.back().empty()) words.pop_back();
    return words;
}

template <size_t N>
bool any_of(const std::string& word, const char* const (&list)[N]) {
    return std::any_of(std::begin(list), std::end(list), [&](const char* entry) { return word == entry; });
}

constexpr const char* kSecrets[] = {
    "token",  "password", "passwd", "pwd",       "pass",       "passphrase",  "secret",    "secrets",
    "apikey", "auth",     "bearer", "authtoken", "credential", "credentials", "accesskey", "authorization"};
constexpr const char* kKeyOwners[] = {"api",     "access", "secret",  "private", "encryption",
                                      "signing", "auth",   "account", "license"};

/// Removes the secrets that a provider's own form gives away.
constexpr std::string_view kTokenStarts[] = {"hf_",   "ghp_",  "gho_", "ghs_", "github_pat_", "glpat-", "sk-",
                                             "xoxb-", "xoxp-", "AKIA", "ASIA", "eyJ",         "pypi-"};

void redact_tokens(std::string& text) {
    for (size_t i = 0; i < text.size(); ++i) {
        if (i > 0 && is_name(text[i - 1])) continue;
        for (const std::string_view start : kTokenStarts) {
            if (text.compare(i, start.size(), start) != 0) continue;
            size_t end = i + start.size();
            while (end < text.size() && (is_name(text[end]) || text[end] == '/' || text[end] == '+')) ++end;
            const auto digits = std::count_if(
                text.begin() + static_cast<ptrdiff_t>(i), text.begin() + static_cast<ptrdiff_t>(end),
                [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
            if (end - i - start.size() >= 16 && digits > 0) text.replace(i, end - i, kRedacted);
            break;
        }
    }
}

/// scheme://user:password@host -> scheme://***@host
void redact_urls(std::string& text) {
    for (size_t at = 0; (at = text.find("://", at)) != std::string::npos;) {
        at += 3;
        const size_t end = std::min(text.find_first_of("/?# \t\n\"'", at), text.size());
        const size_t host = text.rfind('@', end == 0 ? 0 : end - 1);
        if (host != std::string::npos && host >= at && host < end) text.replace(at, host - at, kRedacted);
    }
}

/// NAME=value, "NAME": "value", NAME: value, with NAME a secret's name.
void redact_assignments(std::string& text) {
    for (size_t i = 0; i < text.size();) {
        if (!is_name(text[i])) {
            ++i;
            continue;
        }
        size_t end = i;
        while (end < text.size() && is_name(text[end])) ++end;
        const std::string_view name(text.data() + i, end - i);
        size_t at = end;
        if (at < text.size() && (text[at] == '"' || text[at] == '\'' || text[at] == ']')) ++at;
        while (at < text.size() && text[at] == ' ') ++at;
        if (at >= text.size() || (text[at] != '=' && text[at] != ':') || !names_a_secret(name)) {
            i = end;
            continue;
        }
        const bool header = text[at] == ':';
        ++at;
        while (at < text.size() && text[at] == ' ') ++at;
        size_t stop;
        if (at < text.size() && (text[at] == '"' || text[at] == '\'')) {
            const char quote = text[at++];
            stop = at;
            while (stop < text.size() && text[stop] != quote) stop += text[stop] == '\\' ? 2 : 1;
            stop = std::min(stop, text.size());
        } else if (header && text.find_first_of("\"'{},", at) == std::string::npos) {
            stop = text.size();  // an HTTP header: "Authorization: Bearer ..."
        } else if (i == 0 && text.find_first_of("\"'&;", at) == std::string::npos) {
            stop = text.size();  // the whole argument is NAME=value, which may hold spaces
        } else {
            stop = std::min(text.find_first_of(" \t\n\"'&;,)}", at), text.size());
        }
        if (stop > at) text.replace(at, stop - at, kRedacted);
        i = std::min(at + kRedacted.size(), text.size());
    }
}

/// "Bearer abc" anywhere.
void redact_bearer(std::string& text) {
    for (const std::string_view word : {"Bearer ", "bearer ", "Basic "}) {
        for (size_t at = 0; (at = text.find(word, at)) != std::string::npos;) {
            at += word.size();
            const size_t end = std::min(text.find_first_of(" \t\n\"'", at), text.size());
            if (end - at >= 8) text.replace(at, end - at, kRedacted);
        }
    }
}

}  // namespace

bool names_a_secret(std::string_view name) {
    const std::vector<std::string> words = words_of(name);
    if (words.empty()) return false;
    if (any_of(words.back(), kSecrets)) return true;
    return words.back() == "key" && words.size() > 1 && any_of(words[words.size() - 2], kKeyOwners);
}

std::vector<std::string> redact_command(const std::vector<std::string>& command) {
    std::vector<std::string> out;
    out.reserve(command.size());
    bool value_follows = false;
    for (const std::string& argument : command) {
        if (value_follows && (argument.empty() || argument[0] != '-')) {
            out.emplace_back(kRedacted);
            value_follows = false;
            continue;
        }
        value_follows = argument.size() > 1 && argument[0] == '-' &&
                        argument.find_first_of("= :") == std::string::npos && names_a_secret(argument);
        std::string text = argument;
        redact_urls(text);
        redact_bearer(text);
        redact_assignments(text);
        redact_tokens(text);
        out.push_back(std::move(text));
    }
    return out;
}

}  // namespace attnscope
