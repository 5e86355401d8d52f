import MessageExpansion

// The compiler runs this program for the source that `@Message` and `@Field` add.
try CompilerConversation.run()
