/// What two sets do not have in common, in order: with `-` what the first alone has, with `+` what the second alone has.
///
/// A test that expects it to be empty says what differs, and not all of both sets.
public func difference(
    between first: some Sequence<String>, and second: some Sequence<String>
) -> [String] {
    let (first, second) = (Set(first), Set(second))
    return first.subtracting(second).sorted().map { "- \($0)" } + second.subtracting(first).sorted().map { "+ \($0)" }
}
