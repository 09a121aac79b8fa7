import InterceptorsSyntax
import Testing

@Suite(.againstHanging) struct LinkFieldTests {
    @Test(
        arguments: [
            (["<https://a.example/?page=2>; rel=\"next\""], "https://a.example/?page=2"),
            (["</a>; rel=prev, </b>; rel=next"], "/b"), (["</a>; rel=prev", "</b>;rel=NEXT"], "/b"),
            (["</a,b;c>; title=\"x, <y>; rel=next\"; rel=\"last next\""], "/a,b;c"),
            (["<>; rel=next"], ""), (["</a>; rel=prev; rel=next"], nil), (["</a>; rel=nextpage"], nil),
            (["</a>; title=next"], nil), (["</a"], nil), (["/a; rel=next, </b>; rel=next"], "/b"), ([""], nil),
            ([], nil),
            (["</a>; rel"], nil), (["</a> ; rel = next"], "/a"), (["</a>; rel=\"next"], nil),
            (["</a>;; rel=next"], "/a"),
            ([",, ,</a>; rel=next"], "/a"), (["</a>; rel=next; anchor=\"/b\""], nil),
        ] as [([String], String?)]
    )
    func theTargetIsThatOfTheFirstLinkWithTheRelation(values: [String], target: String?) {
        #expect(LinkField.target(of: "next", in: values) == target)
    }

    @Test func longListsAreReadInOnePass() {
        let value = Array(repeating: "<x>; rel=\"", count: 20_000).joined(separator: ",")
        #expect(LinkField.target(of: "next", in: [value]) == nil)
    }
}
