// The ACL files that the project ships (packaging/redis/), for a space.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "../contents.hpp"

namespace baton::redis_tests {

/// The path of client.acl or viewer.acl.
inline std::string acl_file(const std::string& of) { return BATON_ACL_FOLDER "/" + of + ".acl"; }

/// The words of a file: `user`, the name, the rules. `space` takes the place of the space `default`.
inline std::vector<std::string> acl_words(const std::string& of, const std::string& space = "default") {
    std::string text = contents(acl_file(of));
    const std::string shipped = "{default}";
    const std::string wanted = "{" + space + "}";
    for (std::size_t at = text.find(shipped); at != std::string::npos; at = text.find(shipped, at + wanted.size()))
        text.replace(at, shipped.size(), wanted);
    std::istringstream in{text};
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    return words;
}

/// The rules alone.
inline std::vector<std::string> acl_rules(const std::string& of, const std::string& space = "default") {
    std::vector<std::string> words = acl_words(of, space);
    words.erase(words.begin(), words.begin() + 2);
    return words;
}

}  // namespace baton::redis_tests
