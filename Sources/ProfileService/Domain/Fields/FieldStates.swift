import Values

/// The states of fields by their keys. Rules look up all fields of a field catalogue several times a request. A profile
/// has few states, so a linear search is faster than hashing.
struct FieldStates: Sendable, ExpressibleByDictionaryLiteral {
    private var hashes: [KeyHash] = []
    private var entries: [(key: String, state: FieldState)] = []

    /// No states.
    init() {}

    init(dictionaryLiteral elements: (String, FieldState)...) {
        for (key, state) in elements { self[key] = state }
    }

    mutating func reserveCapacity(_ count: Int) {
        hashes.reserveCapacity(count)
        entries.reserveCapacity(count)
    }

    /// All states, in no particular order.
    var states: some Collection<FieldState> { entries.lazy.map(\.state) }

    subscript(field: ProfileField) -> FieldState? { place(of: field.key, field.hash).map { entries[$0].state } }

    subscript(key: String) -> FieldState? {
        get { place(of: key, KeyHash(key)).map { entries[$0].state } }
        set {
            let hash = KeyHash(key)
            switch (place(of: key, hash), newValue) {
            case (let place?, let state?): entries[place].state = state
            case (let place?, nil):
                hashes.remove(at: place)
                entries.remove(at: place)
            case (nil, let state?):
                hashes.append(hash)
                entries.append((key, state))
            case (nil, nil): break
            }
        }
    }

    private func place(of key: String, _ hash: KeyHash) -> Int? {
        for place in hashes.indices where hashes[place] == hash && entries[place].key == key { return place }
        return nil
    }
}

extension FieldStates: Equatable {
    static func == (one: FieldStates, other: FieldStates) -> Bool {
        one.entries.count == other.entries.count && one.entries.allSatisfy { other[$0.key] == $0.state }
    }
}
