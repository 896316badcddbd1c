within Kilohertz;
package Examples "Models that run as they are"
end Examples;
