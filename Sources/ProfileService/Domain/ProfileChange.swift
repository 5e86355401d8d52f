import BusProtocol
import JSONText
import ProcessRuntime

/// The changes of a profile by a PATCH, or all problems of it.
struct ProfileChange: Sendable {
    /// The new states of fields; `nil` clears a field.
    var states: [String: FieldState?] = [:]
    var dateOfBirth: CivilDate?
    /// `.some(nil)` clears the time zone.
    var timeZone: PersonTimeZone??
    var problems: [BusError.FieldProblem] = []
    /// Whether the PATCH would change a date of birth that is already set.
    var isDateOfBirthLocked = false

    var isEmpty: Bool { states.isEmpty && dateOfBirth == nil && timeZone == nil }

    private let catalogue: FieldCatalogue
    private let correction: DateOfBirthCorrection?

    /// - Parameter correction: the rules for a person who corrects the date of birth; `nil` if nobody may.
    init(
        _ given: [String: JSONValue], to record: ProfileRecord, _ catalogue: FieldCatalogue, today: CivilDate,
        correction: DateOfBirthCorrection? = nil
    ) {
        (self.catalogue, self.correction) = (catalogue, correction)
        for (key, value) in given.sorted(by: { $0.key < $1.key }) {
            switch key {
            case "height": takeHeight(value, given, record)
            case "timeZone": takeTimeZone(value, record)
            case "dateOfBirth": takeDateOfBirth(value, record, today)
            default: take(key, value, record)
            }
        }
        fillDisplayName(record)
    }

    /// A correction of the date of birth by staff. It may replace the present one.
    init(correcting date: CivilDate, of record: ProfileRecord, _ catalogue: FieldCatalogue, today: CivilDate) {
        (self.catalogue, correction) = (catalogue, nil)
        if isPossible(date, today), date != record.dateOfBirth { dateOfBirth = date }
    }

    private mutating func refuse(_ field: String, _ code: String, _ message: String) {
        problems.append(.init(field: field, code: code, message: message))
    }

    private mutating func take(_ key: String, _ value: JSONValue, _ record: ProfileRecord) {
        guard let field = catalogue.field(key) else {
            // A client may send any name, also one with a dot.
            return problems.append(
                .init(
                    field: key, pointer: JSONPointer.appending(key), code: "unknown_member",
                    message: "There is no such field."))
        }
        let state: FieldState?
        if field.isPhoto, record.photo != nil || value != .null {
            // An app may send the whole profile back, even on a later day, when the photo's signature is another one.
            if let photo = record.photo, value.stringValue?.prefix(while: { $0 != "?" }) == photo.address[...] {
                return
            }
            return refuse(key, "upload_required", "Please upload the photo. An address is not taken.")
        } else if value == .null {
            state = nil
        } else if value == .string(FieldCatalogue.declined) {
            guard field.isDeclinable else { return refuse(key, "not_declinable", "You cannot decline to answer this.") }
            state = .declined
        } else {
            do throws(FieldValidator.Refusal) {
                state = .answered(try FieldValidator.canonical(value, for: field))
            } catch {
                return refuse(key, error.code, error.message)
            }
        }
        if record.fields[key] != state { states[key] = .some(state) }
    }

    /// Accepts `{feet: 4–7, inches: 0–11}` in place of `heightInches`; `null` clears that.
    private mutating func takeHeight(_ value: JSONValue, _ given: [String: JSONValue], _ record: ProfileRecord) {
        guard given["heightInches"] == nil else {
            return refuse("height", "not_allowed", "Give either height or heightInches.")
        }
        guard value != .null else { return take("heightInches", .null, record) }
        guard let members = value.objectValue, Set(members.keys) == ["feet", "inches"],
            let feet = members["feet"]?.integerValue, let inches = members["inches"]?.integerValue
        else { return refuse("height", "malformed", "Must be {feet, inches} in whole numbers.") }
        guard (4...7).contains(feet), (0...11).contains(inches) else {
            return refuse(
                "height", feet < 4 || inches < 0 ? "too_small" : "too_large", "Must be from 4 feet 0 to 7 feet 11.")
        }
        let state = FieldState.answered(.integer(feet * 12 + inches))
        if record.fields["heightInches"] != state { states["heightInches"] = .some(state) }
    }

    private mutating func takeTimeZone(_ value: JSONValue, _ record: ProfileRecord) {
        let zone = value.stringValue.flatMap { PersonTimeZone($0) }
        guard value == .null || zone != nil else {
            return refuse("timeZone", "malformed", "Must be a time zone such as Europe/Stockholm.")
        }
        if record.timeZone != zone { timeZone = .some(zone) }
    }

    private mutating func takeDateOfBirth(_ value: JSONValue, _ record: ProfileRecord, _ today: CivilDate) {
        guard let date = value.stringValue.flatMap({ CivilDate($0) }) else {
            if value == .null, record.dateOfBirth == nil { return }
            if value == .null { return isDateOfBirthLocked = true }
            return refuse("dateOfBirth", "malformed", "Must be a date, YYYY-MM-DD.")
        }
        guard isPossible(date, today) else { return }
        guard let known = record.dateOfBirth else { return dateOfBirth = date }
        guard known != date else { return }
        if correction?.isAllowed(of: record, to: date) ?? false {
            dateOfBirth = date
        } else {
            isDateOfBirthLocked = true
        }
    }

    /// Whether a living person can be born on a date. If not, it adds a problem.
    private mutating func isPossible(_ date: CivilDate, _ today: CivilDate) -> Bool {
        if let age = Age.years(born: date, on: today), age <= 120 { return true }
        refuse(
            "dateOfBirth", date > today ? "too_large" : "too_small", "Must be the date of birth of a living person.")
        return false
    }

    /// Sets the display name to the first name if there is none.
    private mutating func fillDisplayName(_ record: ProfileRecord) {
        guard record.fields["displayName"] == nil, states["displayName"] == nil,
            case .answered(.string(let name))?? = states["firstName"], (2...50).contains(name.count)
        else { return }
        states["displayName"] = .some(.answered(.string(name)))
    }
}
