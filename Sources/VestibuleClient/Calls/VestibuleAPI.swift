/// Whoever can carry out calls of the public API has a method for each operation.
public protocol VestibuleAPI: Sendable {
    /// Carries out one call.
    ///
    /// - Throws: ``VestibuleError``.
    func send<Reply>(_ call: Call<Reply>) async throws(VestibuleError) -> Answer<Reply>
}

/// What an operation answered, and which version of it.
@dynamicMemberLookup
public struct Answer<Value: Sendable>: Sendable {
    /// What was answered.
    public var value: Value
    /// Names this version of the value in a later call, as `ifMatch` or `ifNoneMatch`; `nil` where there are no versions.
    public var eTag: String?

    /// An answer with these parts.
    public init(_ value: Value, eTag: String? = nil) { (self.value, self.eTag) = (value, eTag) }

    /// A member of the value.
    public subscript<Member>(dynamicMember path: KeyPath<Value, Member>) -> Member { value[keyPath: path] }
}

extension Answer: Equatable where Value: Equatable {}
