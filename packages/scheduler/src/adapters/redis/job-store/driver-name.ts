/** Who drives a job, as its record says it: "instance/incarnation". An incarnation has no slash. */

export const instanceOfDriver = (driver: string): string => driver.slice(0, driver.lastIndexOf('/'));
