// The error replies of servers, in the servers' own words.
#include "stores/redis/reply_class.hpp"

#include <gtest/gtest.h>

namespace baton::detail {
namespace {

TEST(ReplyClass, DependsOnTheFirstWord) {
    EXPECT_EQ(classify("NOSCRIPT No matching script. Please use EVAL."), reply_class::no_script);
    EXPECT_EQ(classify("OOM command not allowed when used memory > 'maxmemory'."), reply_class::full);
    for (const char* text :
         {"LOADING Redis is loading the dataset in memory",
          "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
          "READONLY You can't write against a read only replica.", "MASTERDOWN Link with MASTER is down",
          "MISCONF Redis is configured to save RDB snapshots", "NOREPLICAS Not enough good replicas to write.",
          "ERR max number of clients reached", "CLUSTERDOWN The cluster is down", "TRYAGAIN Multiple keys request"})
        EXPECT_EQ(classify(text), reply_class::unavailable) << text;
    for (const char* text :
         {"NOAUTH Authentication required.", "WRONGPASS invalid username-password pair or user is disabled.",
          "NOPERM this user has no permissions to run the 'evalsha' command",
          "ERR The user executing the script can't run this command or subcommand script: 1",
          "ERR ACL failure in script: No permissions to access a key script: 1"})
        EXPECT_EQ(classify(text), reply_class::denied) << text;
    for (const char* text : {"ERR unknown command", "WRONGTYPE Operation against a key holding the wrong kind of value",
                             "", "BUSYKEY Target key name already exists."})
        EXPECT_EQ(classify(text), reply_class::rejected) << text;
}

}  // namespace
}  // namespace baton::detail
