#include "stores/resp/line_user.hpp"

namespace baton::resp {

void line_user::up(lineage lineage) {
    if (const auto told = listener()) told->up(lineage);
}

void line_user::down(const store_error& why) {
    if (const auto told = listener()) told->down(why);
}

void line_user::hopeless(const store_error& why) {
    if (const auto told = listener()) told->unusable(why);
}

}  // namespace baton::resp
