"""What `scripts/ha-test` reads from a history."""

import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import ha_figures


def change(key, sent, result, revision=None, object="profile of person-0"):
    line = {"call": "change", "object": object, "key": key, "value": key, "sent": sent, "answered": sent + 5, "result": result}
    return line | ({} if revision is None else {"revision": revision})


class Pauses(unittest.TestCase):
    def test_the_longest_one_may_lie_between_two_moments(self):
        self.assertEqual(ha_figures.longest_pause([12, 3, 4, 99], 0, 20), 8)

    def test_it_may_lie_at_either_end(self):
        self.assertEqual(ha_figures.longest_pause([9, 10], 0, 12), 9)
        self.assertEqual(ha_figures.longest_pause([1, 2], 0, 12), 10)

    def test_without_a_moment_it_is_all_of_the_time(self):
        self.assertEqual(ha_figures.longest_pause([], 5, 12), 7)

    def test_the_next_one_is_the_first_that_is_not_earlier(self):
        self.assertEqual(ha_figures.next_after(5, [9, 3, 7]), 2)
        self.assertEqual(ha_figures.next_after(5, [5, 7]), 0)


class Fates(unittest.TestCase):
    def test_one_acknowledgement_counts_whatever_became_of_the_other_calls(self):
        lines = [change("a", 0, "unknown"), change("a", 10, "acknowledged", 1), change("b", 5, "refused"), change("b", 9, "unknown"),
                 change("c", 6, "refused"), change("d", 99, "refused")]
        self.assertEqual(ha_figures.writes(lines, 0, 50), {"acknowledged": 1, "unknown": 1, "refused": 1})

    def test_an_unknown_change_is_found_by_its_key_or_its_value(self):
        lines = [change("a", 0, "unknown"), change("b", 1, "unknown"), change("c", 2, "acknowledged", 2),
                 {"final": "kept", "object": "profile of person-0", "revisions": {1: "b", 2: "c"}}]
        self.assertEqual([(each["key"], each["isFound"]) for each in ha_figures.unknown(lines, 0, 50)], [("a", False), ("b", True)])

    def test_an_unknown_change_of_another_time_is_not_listed(self):
        self.assertEqual(ha_figures.unknown([change("a", 0, "unknown")], 10, 50), [])

    def test_an_unknown_sign_in_is_found_by_a_session_that_no_other_one_made(self):
        def sign_in(key, person, result, **made):
            return {"call": "sign-in", "key": key, "person": person, "sent": 1, "answered": 6, "result": result, **made}
        lines = [sign_in("a", "p", "acknowledged", made="s1", account="A"), sign_in("b", "p", "unknown"),
                 sign_in("c", "q", "acknowledged", made="s2", account="B"), sign_in("d", "q", "unknown"), sign_in("e", "r", "unknown"),
                 sign_in("f", "p", "unknown"), sign_in("f", "p", "acknowledged", made="s3", account="A"), sign_in("g", "q", "unknown")]
        found = ha_figures.unknown_sign_ins(lines, 0, 50, {"A": ["s1", "s3"], "B": ["s2", "s4"]})
        self.assertEqual([(each["key"], each["isFound"]) for each in found], [("b", False), ("d", True), ("e", False), ("g", False)])
        self.assertEqual(ha_figures.unknown_sign_ins(lines, 10, 50, {}), [])


    def test_an_unknown_renewal_is_found_if_its_session_was_renewed_since(self):
        def renewal(key, person, sent, result):
            return {"call": "renew", "key": key, "session": f"session of {person}", "sent": sent, "answered": sent + 5, "result": result}
        lines = [renewal("a", "p", 1, "unknown"), renewal("a", "p", 9, "acknowledged"), renewal("b", "p", 20, "refused"),
                 renewal("b", "p", 30, "unknown"), renewal("b", "p", 40, "unknown"), renewal("c", "q", 10, "acknowledged"),
                 renewal("d", "q", 20, "unknown"), renewal("e", "r", 5, "refused")]
        found = ha_figures.unknown_renewals(lines, 0, 50, {"session of p": 33, "session of q": 12})
        self.assertEqual([(each["key"], each["isFound"]) for each in found], [("b", True), ("d", False)])
        self.assertEqual(ha_figures.unknown_renewals(lines, 0, 15, {}), [])
        self.assertEqual(ha_figures.writes(lines, 0, 50), {"acknowledged": 2, "unknown": 2, "refused": 1})


class Restored(unittest.TestCase):
    LINES = [change("a", 0, "acknowledged", 1), change("b", 10, "acknowledged", 2), change("c", 30, "acknowledged", 3)]

    def wrong(self, revisions):
        return ha_figures.wrongly_restored(self.LINES, {"profile of person-0": revisions}, 20, 25)

    def test_what_was_acknowledged_before_is_there_and_what_was_sent_after_is_not(self):
        self.assertEqual(self.wrong({1: "a", 2: "b"}), [])

    def test_what_was_on_its_way_at_the_moment_may_be_there_or_not(self):
        before, on_its_way = self.LINES[:2], change("c", 22, "acknowledged", 3)
        for revisions in ({1: "a", 2: "b"}, {1: "a", 2: "b", 3: "c"}):
            kept = {"profile of person-0": revisions}
            self.assertEqual(ha_figures.wrongly_restored([*before, on_its_way], kept, 20, 25), [])

    def test_what_was_acknowledged_before_is_missing(self):
        self.assertIn("lost: profile of person-0 ends at revision 1, and 2 was acknowledged before the moment", self.wrong({1: "a"}))

    def test_something_else_stands_where_it_was_acknowledged(self):
        self.assertIn("lost: revision 2 of profile of person-0 is x, and b was acknowledged as it", self.wrong({1: "a", 2: "x"}))

    def test_what_was_sent_after_is_there(self):
        self.assertIn(
            "too new: profile of person-0 has revision 3, which was sent after the moment", self.wrong({1: "a", 2: "b", 3: "c"}))


if __name__ == "__main__":
    unittest.main()
