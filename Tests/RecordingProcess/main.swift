// A second process for the tests of recordings.
