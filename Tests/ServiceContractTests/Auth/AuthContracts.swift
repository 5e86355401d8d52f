/// The contracts of the messages that auth answers or tells.
enum AuthContracts {
    static let all: [any MessageContract.Type] = []
}
