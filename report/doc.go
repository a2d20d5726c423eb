// Package report gives one account of a measurement in several forms: JSON for
// scripts, a table for the terminal, Markdown for a ticket.
//
// It writes what it is given and computes no statistics; it reads no clock, no
// environment and no flag. Times are milliseconds, rates tokens/s or requests/s,
// shares and error rates fractions. All functions are safe for concurrent use on
// values that nobody changes meanwhile.
package report
