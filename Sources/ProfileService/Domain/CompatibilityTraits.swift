import BusProtocol
import JSONText

/// The traits of two people, as options of the questions that ask which traits a person wishes for in others.
enum CompatibilityTraits {
    /// For each wish of the plan, the traits that both people show each other. A field that a person declined or left
    /// empty gives no trait.
    static func shown(_ first: ProfileRecord, _ second: ProfileRecord, _ plan: Plan) -> [WishedTraits] {
        plan.wishes.compactMap { wish in
            guard let field = plan.catalogue.field(wish.field), field.isPublic else { return nil }
            return WishedTraits(
                question: wish.question, first: options(of: first, seenBy: second, field, wish),
                second: options(of: second, seenBy: first, field, wish))
        }
    }

    private static func options(
        of person: ProfileRecord, seenBy other: ProfileRecord, _ field: ProfileField, _ wish: PlanFile.Wish
    ) -> [String] {
        guard case .answered(let value)? = person.fields[field] else { return [] }
        guard let relative = wish.relative else { return (value.arrayValue ?? [value]).compactMap(\.stringValue) }
        guard case .answered(let own)? = other.fields[field], let number = value.integerValue,
            let others = own.integerValue
        else { return [] }
        let difference = number - others
        if abs(difference) <= relative.within { return [relative.same] }
        return [difference < 0 ? relative.less : relative.more]
    }
}
