import MessageExpansion

// What `@Message` and `@Field` stand for: the compiler runs this program and asks it for the source of each.
try CompilerConversation.run()
