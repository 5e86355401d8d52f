/// The messages of the bus. `ListMessages` makes the list `all` from the files of this target when it is built. The contract
/// suite refuses a message without a contract.
public enum MessageCatalogue {}
