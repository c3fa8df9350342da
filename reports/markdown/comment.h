#pragma once
// What every pull-request comment has: a tag to find it again, and an end.
#include <string>

namespace attnscope::reports {

/// `<!-- attnscope:id=ID -->` and a line end: a poster looks for this line, and updates the comment in place.
std::string comment_tag(const std::string& id);

/// Grows while it fits into `budget` bytes.
class Comment {
  public:
    /// `reserve`: bytes that are kept for the closing words.
    Comment(const std::string& id, size_t budget, size_t reserve);

    void line(const std::string& markdown);  ///< whatever its length: the caller has kept it short
    bool add(const std::string& markdown);   ///< whole or not at all
    bool fits(size_t bytes) const { return text_.size() + bytes + reserve_ <= budget_; }
    /// For the closing words, which stay away where they do not fit.
    bool closes_with(size_t bytes) const { return text_.size() + bytes <= budget_; }
    std::string close(const std::string& markdown);

  private:
    std::string text_;
    size_t budget_, reserve_;
};

}  // namespace attnscope::reports
