extension Catalogue {
    /// What auth answers, and the events that it tells.
    static let auth: [any BusRequest.Type] = []
}
