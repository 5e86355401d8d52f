/// A type that carries out calls of the public API. It has a method for each operation.
public protocol VestibuleAPI: Sendable {
    /// Carries out one call.
    ///
    /// - Throws: ``VestibuleError``.
    func send<Reply>(_ call: Call<Reply>) async throws(VestibuleError) -> Answer<Reply>
}

/// The answer of an operation, and its version.
@dynamicMemberLookup
public struct Answer<Value: Sendable>: Sendable {
    /// The value in the answer.
    public var value: Value
    /// The name of this version of the value, for `ifMatch` or `ifNoneMatch` in a later call; `nil` if the value has no
    /// versions.
    public var eTag: String?

    /// An answer with these parts.
    public init(_ value: Value, eTag: String? = nil) { (self.value, self.eTag) = (value, eTag) }

    /// A member of the value.
    public subscript<Member>(dynamicMember path: KeyPath<Value, Member>) -> Member { value[keyPath: path] }
}

extension Answer: Equatable where Value: Equatable {}
