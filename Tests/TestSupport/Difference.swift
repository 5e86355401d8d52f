/// The elements that only one of two sets has, sorted: `-` marks those of the first set, `+` those of the second.
///
/// A test that expects an empty result reports only the difference, and not both sets.
package func difference(
    between first: some Sequence<String>, and second: some Sequence<String>
) -> [String] {
    let (first, second) = (Set(first), Set(second))
    return first.subtracting(second).sorted().map { "- \($0)" } + second.subtracting(first).sorted().map { "+ \($0)" }
}
