import Testing

@testable import InterceptorsTransport

@Suite(.againstHanging) struct RedactionOfFieldsTests {
    @Test(arguments: [
        Redaction.standard, .standard.adding(names: ["Accept", "ETag", "location"]),
        Redaction(sensitiveParts: ["type"], sensitiveNames: ["vary"]),
        Redaction(sensitiveParts: [], sensitiveNames: []),
    ])
    func whatIsKnownOfUsualNamesBeforehandIsWhatTheirTextsSay(redaction: Redaction) {
        for name in SensitiveNames.usualNames {
            let isSensitive = redaction.isSensitive(name.rawName)
            #expect(redaction.isSensitive(name) == isSensitive, "\(name)")
            let isURL = name == .location || name == .contentLocation || name == .referer
            let value = redaction.value(of: HTTPField(unchecked: name, "plain"))
            #expect(value == (isSensitive && !isURL ? redaction.placeholder : "plain"), "\(name)")
        }
        #expect(Redaction.standard.isSensitive(.authorization))
        #expect(Redaction.standard.isSensitive("X-Api-Key" as HTTPField.Name))
        #expect(!Redaction.standard.isSensitive(.contentType))
    }

    @Test(arguments: [255, 256, 300]) func aLongNameThatAProgramAddsIsSensitive(length: Int) {
        let name = String(repeating: "n", count: length)
        #expect(!Redaction.standard.isSensitive(name))
        #expect(Redaction.standard.adding(names: [name]).isSensitive(name))
    }

    @Test(arguments: [HTTPField.Name.location, .contentLocation, .referer])
    func urlInAFieldLosesItsUserAndItsFragment(name: HTTPField.Name) {
        let field = HTTPField(unchecked: name, "https://ada:hush@h/a?page=2#hush")
        #expect(Redaction.standard.value(of: field) == "https://<redacted>@h/a?page=2")
    }
}
